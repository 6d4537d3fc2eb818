import { isPromise, type MaybePromise } from './maybe-promise.ts'

/** Error for a promise that did not settle in time. It may still settle later: see `late`. */
export class DeadlineError extends Error {
  constructor(operation: string, ms: number) {
    super(`${operation} did not respond within ${Math.round(ms)} ms`)
    this.name = 'DeadlineError'
  }
}

/**
 * Settles like `promise`, or rejects with {@link DeadlineError} after `ms`. `late` receives a value that arrives after
 * that: a slow server's work may have to be undone.
 */
export function withDeadline<T>(
  promise: Promise<T>,
  options: Readonly<{ operation: string; ms: number; late?: (value: T) => void }>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let expired = false
    // Waits for the last millisecond separately, so that the network is polled once more: a reply may have arrived in
    // time at a process that was itself blocked.
    let timer = setTimeout(() => {
      timer = setTimeout(expire, 1)
    }, options.ms - 1)
    function expire(): void {
      expired = true
      reject(new DeadlineError(options.operation, options.ms))
    }
    promise.then(
      value => {
        clearTimeout(timer)
        if (expired) options.late?.(value)
        else resolve(value)
      },
      error => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** Limit on how long a user's asynchronous function may delay a reply. */
const USER_DEADLINE_MS = 5000

/** Waits for a user's function. Only a promise gets a timer. */
export function answerInTime<T>(answer: MaybePromise<T>, operation: string): MaybePromise<T> {
  if (!isPromise(answer)) return answer
  return withDeadline(Promise.resolve(answer), { operation, ms: USER_DEADLINE_MS })
}

/** Resolves to whether `promise` resolves or rejects within `ms`. Never rejects. */
export function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms, false)
    const settled = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
