import type { Observer } from '@ackhook/core'

/** While the engine is gone, its worker tries once a second. What fails again after so long fails in another outage. */
const QUIET_MS = 10_000

export interface OutageTeller {
  tell(error: Error): void
  /** The engine answers again. */
  over(): void
}

/** Tells the observer of each outage once: its error comes many times a second. */
export function tellOutages(observe: Observer): OutageTeller {
  let last: string | undefined
  let lastAt = 0
  return {
    tell(error) {
      const now = performance.now()
      const known = error.message === last && now - lastAt < QUIET_MS
      lastAt = now
      if (known) return
      last = error.message
      observe({ kind: 'store_down', operation: 'work', error })
    },
    over() {
      last = undefined
    },
  }
}
