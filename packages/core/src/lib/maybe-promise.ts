/** A value, or a promise of one. */
export type MaybePromise<T> = T | Promise<T>

/** Returns whether a value is a promise, so that a caller awaits only promises. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  // Accepts any thenable, as `await` does: some query builders are functions with a `then`.
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
