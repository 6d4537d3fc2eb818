import type { ComponentChildren } from 'preact'

interface NothingProps {
  /** Name of the list's items, as in "No deliveries match". */
  readonly what: string
  /** Set if the list could not be loaded. */
  readonly error: Error | undefined
  /** Clears the filters; undefined if there are none. */
  readonly clear: (() => void) | undefined
  /** Shown if the list is empty without filters. */
  readonly children: ComponentChildren
}

/** Replaces an empty list: it has no items, none match the filters, or it could not be loaded. */
export function Nothing({ what, error, clear, children }: NothingProps) {
  if (error !== undefined)
    return (
      <div class="empty">
        <h2>Not available</h2>
        <p class="quiet">The {what} could not be loaded: see the error above.</p>
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
