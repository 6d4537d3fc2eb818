/**
 * Returns the error behind one without a message: Node tries every address of a name, and reports an empty
 * `AggregateError` if none responds.
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
