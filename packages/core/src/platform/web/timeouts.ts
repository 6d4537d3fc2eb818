import type { Timeouts } from '../platform.ts'

/** Sets a timer for each timeout: on Workers a timer belongs to the request that set it, and ends with it. */
export function createTimeouts(ms: number): Timeouts {
  return {
    ms,
    set(fire) {
      const timer = setTimeout(fire, ms)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
