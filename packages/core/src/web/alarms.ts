import type { Alarms } from '../alarms.ts'

/** A timer for each alarm: on Workers a timer belongs to the request that set it, and ends with that. */
export function createAlarms(ms: number): Alarms {
  return {
    ms,
    set(ring) {
      const timer = setTimeout(ring, ms)
      return { cancel: () => clearTimeout(timer) }
    },
  }
}
