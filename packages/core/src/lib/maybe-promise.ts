/** What may be there at once or only later. */
export type MaybePromise<T> = T | Promise<T>

/**
 * Tells a promise from a value that is already there, so that a caller awaits only what has to be awaited.
 * With the in-memory store a whole delivery is synchronous, and each needless `await` is a trip through the
 * microtask queue on the hottest path.
 */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  // Of any kind, as `await` does: some query builders are functions with a `then`.
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/** Goes on with the value: at once where it is there, otherwise when the promise has resolved. */
export function andThen<T, Next>(
  value: MaybePromise<T>,
  next: (value: T) => MaybePromise<Next>,
): MaybePromise<Next> {
  // Query builders answer something that has only a `then`.
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value)
}

/** What `call` answers, or what `failed` answers to what it threw or rejected with. */
export function orElse<T>(call: () => MaybePromise<T>, failed: (cause: unknown) => T): MaybePromise<T> {
  try {
    const value = call()
    return isPromise(value) ? Promise.resolve(value).catch(failed) : value
  } catch (cause) {
    return failed(cause)
  }
}
