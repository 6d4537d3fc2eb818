/** A mistake in the command line. Its message says how to fix it. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}
