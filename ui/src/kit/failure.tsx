interface FailureProps {
  readonly error: Error | undefined
  readonly retry: () => void
  /** `true` if older data is still shown. */
  readonly isStale?: boolean
}

/** Shows an error with a button to try again. */
export function Failure({ error, retry, isStale = false }: FailureProps) {
  if (error === undefined) return null
  return (
    <div class="note bad bar" role="alert">
      <span>
        {error.message}
        {isStale && ' The data below is older.'}
      </span>
      <button type="button" class="push" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
