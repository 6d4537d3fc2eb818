import type { ComponentChildren } from 'preact'

interface NothingProps {
  /** What the list has, as in "No deliveries match". */
  readonly what: string
  /** The list could not be read. */
  readonly error: Error | undefined
  /** Takes the filters back; undefined without any. */
  readonly clear: (() => void) | undefined
  /** Shown if there is nothing at all. */
  readonly children: ComponentChildren
}

/** Instead of an empty list: whether there is nothing, nothing with these filters, or nothing is known. */
export function Nothing({ what, error, clear, children }: NothingProps) {
  if (error !== undefined)
    return (
      <div class="empty">
        <h2>Not known</h2>
        <p class="quiet">The {what} could not be read: see the error above.</p>
      </div>
    )
  if (clear === undefined) return <div class="empty">{children}</div>
  return (
    <div class="empty">
      <h2>No {what} match these filters</h2>
      <button type="button" onClick={clear}>
        Clear the filters
      </button>
    </div>
  )
}
