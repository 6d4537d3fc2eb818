/** A value, or a promise of one. */
export type MaybePromise<T> = T | Promise<T>

/** Tells a promise from a value that is already there, so that a caller awaits only a promise. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  // Accepts any thenable, as `await` does: some query builders are functions with a `then`.
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
