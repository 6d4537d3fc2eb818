import type { Observer } from '@ackhook/core'

/** While the engine is gone, its worker tries once a second. What fails again after so long fails in another outage. */
const QUIET_MS = 10_000
/** Some messages hold what changes each time. */
const MOST_KNOWN = 20

export interface OutageTeller {
  tell(error: Error): void
  /** The engine answers again. */
  over(): void
}

/** Tells the observer of each error of an outage once: they come many times a second, and alternate. */
export function tellOutages(observe: Observer): OutageTeller {
  const toldAt = new Map<string, number>()
  return {
    tell(error) {
      const now = performance.now()
      const lastAt = toldAt.get(error.message) ?? Number.NEGATIVE_INFINITY
      if (toldAt.size >= MOST_KNOWN) toldAt.clear()
      toldAt.set(error.message, now)
      if (now - lastAt < QUIET_MS) return
      observe({ kind: 'store_down', operation: 'work', error })
    },
    over: () => toldAt.clear(),
  }
}
