import { isPromise, type MaybePromise } from './maybe-promise.ts'

/** Error for a promise that did not settle in time. It may still settle later: see `late`. */
export class DeadlineError extends Error {
  constructor(operation: string, ms: number) {
    super(`${operation} did not respond within ${Math.round(ms)} ms`)
    this.name = 'DeadlineError'
  }
}

/** Absent on some runtimes, which have no such order of timers and the network. */
const { setImmediate: nextTurn } = globalThis as { setImmediate?: (work: () => void) => unknown }

/**
 * Calls `judge` once the event loop has read what has arrived. Every time limit decides there: after the loop or the
 * whole process stood still, a timer that is overdue fires before the network is polled, and the reply that came in time
 * waits to be read.
 */
export function afterArrivals(judge: () => void): void {
  if (nextTurn === undefined) setTimeout(judge, 1)
  else nextTurn(judge)
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
    let state: 'waiting' | 'settled' | 'expired' = 'waiting'
    const expire = (): void => {
      if (state === 'settled') return
      state = 'expired'
      reject(new DeadlineError(options.operation, options.ms))
    }
    const timer = setTimeout(afterArrivals, options.ms, expire)
    promise.then(
      value => {
        clearTimeout(timer)
        if (state === 'expired') return options.late?.(value)
        state = 'settled'
        resolve(value)
      },
      error => {
        clearTimeout(timer)
        if (state === 'waiting') state = 'settled'
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
    const timer = setTimeout(afterArrivals, ms, () => resolve(false))
    const settled = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}
