// Node's own timers: a test may have faked the global ones, even before this module was loaded.
import { clearTimeout, setTimeout } from 'node:timers'

/** Resolves to whether `promise` settles, either way, within `ms` of real time. Never rejects. */
export function settlesInRealTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms, false)
    const settled = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(settled, settled)
  })
}

/** Returns whether a test may have replaced the global timers. */
export function hasOtherTimers(): boolean {
  return globalThis.setTimeout !== setTimeout
}
