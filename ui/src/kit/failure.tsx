interface FailureProps {
  readonly error: Error | undefined
  readonly retry: () => void
  /** Something is shown that was read earlier. */
  readonly isStale?: boolean
}

/** Says what could not be loaded, and offers another try. */
export function Failure({ error, retry, isStale = false }: FailureProps) {
  if (error === undefined) return null
  return (
    <div class="note bad bar" role="alert">
      <span>
        {error.message}
        {isStale && ' What is shown below was read before that.'}
      </span>
      <button type="button" class="push" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
