/** A mistake in how the command was called. Its message says what to do. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}
