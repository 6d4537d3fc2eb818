/** What several handlers threw, or the one thing that was thrown. */
export function errorsOf(thrown: unknown): readonly unknown[] {
  // Libraries that validate keep an object there.
  return thrown instanceof AggregateError && Array.isArray(thrown.errors) ? thrown.errors : [thrown]
}
