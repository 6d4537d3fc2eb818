/**
 * Returns the error behind one that says nothing: Node tries every address of a name, and reports an `AggregateError`
 * without a message if none responds.
 */
export function firstCause(error: unknown): unknown {
  let found = error
  for (let depth = 0; depth < 5; depth++) {
    const { message, errors, cause } = Object(found) as Partial<AggregateError>
    const next: unknown = errors?.[0] ?? cause
    if (message || next === undefined) break
    found = next
  }
  return found
}
