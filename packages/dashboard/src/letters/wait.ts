import { withDeadline } from '@ackhook/core/spi'

/** Time limit of a call, for inboxes that have none of their own. */
const CALL_MS = 20_000

/** Waits, until the signal is aborted. `isIdle`: the wait keeps no process alive. */
export function wait(ms: number, signal?: AbortSignal, isIdle = false): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted === true) return resolve()
    const timer: unknown = setTimeout(end, ms)
    if (isIdle && typeof timer === 'object') (timer as { unref?: () => void }).unref?.()
    signal?.addEventListener('abort', end)
    function end(): void {
      clearTimeout(timer as Parameters<typeof clearTimeout>[0])
      signal?.removeEventListener('abort', end)
      resolve()
    }
  })
}

/** Resolves with the result of `work`, or with `undefined` as soon as the signal is aborted. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(undefined)
    signal.addEventListener('abort', end)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

export function inTime<T>(call: Promise<T>): Promise<T> {
  return withDeadline(call, { operation: 'inbox', ms: CALL_MS })
}
