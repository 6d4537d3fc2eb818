import type { Timeouts } from '../platform.ts'

/** A timer for each timeout: on Workers a timer belongs to the request that set it, and ends with that. */
export function createTimeouts(ms: number): Timeouts {
  return {
    ms,
    set(ring) {
      const timer = setTimeout(ring, ms)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
