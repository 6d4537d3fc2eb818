/** Says what could not be loaded, and offers another try. */
export function Failure({ error, retry }: { readonly error: Error | undefined; readonly retry: () => void }) {
  if (error === undefined) return null
  return (
    <div class="note bad bar" role="alert">
      <span>{error.message}</span>
      <button type="button" class="push" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
