import { isPromise, type MaybePromise } from './maybe-promise.ts'

/** A promise that did not settle in time. It may still settle later: see `late`. */
export class DeadlineError extends Error {
  constructor(operation: string, ms: number) {
    super(`${operation} did not answer within ${Math.round(ms)} ms`)
    this.name = 'DeadlineError'
  }
}

/**
 * Settles like `promise`, or rejects with {@link DeadlineError} after `ms`. `late` gets a value that arrives
 * after that: what a slow server did anyway may have to be undone.
 */
export function withDeadline<T>(
  promise: Promise<T>,
  options: Readonly<{ operation: string; ms: number; late?: (value: T) => void }>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let expired = false
    // The last millisecond is a separate wait, so that the network is polled once more before the end: an answer
    // may have arrived in time at a process that was itself held up.
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

/** Limit on how long a user's asynchronous function may hold up a reply. */
const USER_DEADLINE_MS = 5000

/** Waits for a user's function. Only a promise gets a timer. */
export function answerInTime<T>(answer: MaybePromise<T>, operation: string): MaybePromise<T> {
  if (!isPromise(answer)) return answer
  return withDeadline(Promise.resolve(answer), { operation, ms: USER_DEADLINE_MS })
}

/** Resolves to whether `promise` settles, either way, within `ms`. Never rejects. */
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
