import type { MaybePromise } from '@ackhook/core'
import type { Engine } from './engine.ts'

const REFRESH_MS = 1000
const RECHECK_MS = 50

/** How many events wait or run, well enough to refuse more. */
export interface Gauge {
  /** One more is being added here. */
  add(): void
  /** The add has been answered, whatever the answer is. */
  added(): void
  isFull(): MaybePromise<boolean>
}

/**
 * Counting at every delivery would be another round trip. So the engine is asked once a second, deliveries of
 * this process are added in between, and `true` is said only after a fresh look. Other processes may go beyond
 * the capacity by what they accept in a second.
 */
export function createGauge({ countHeld }: Pick<Engine, 'countHeld'>, capacity: number): Gauge {
  let counted = 0
  let since = 0
  /** Without an answer yet: a count may have seen them or not, and they count twice sooner than not at all. */
  let underWay = 0
  let countedAt = Number.NEGATIVE_INFINITY
  let counting: Promise<void> | undefined

  function count(): Promise<void> {
    counting ??= (async () => {
      const before = since - underWay
      counted = await countHeld()
      since -= before
    })().finally(() => {
      countedAt = performance.now()
      counting = undefined
    })
    return counting
  }

  async function isFullNow(): Promise<boolean> {
    await count()
    return counted + since >= capacity
  }

  return {
    add() {
      since++
      underWay++
    },
    added: () => void underWay--,
    isFull() {
      const age = performance.now() - countedAt
      if (counted + since >= capacity) return age <= RECHECK_MS || isFullNow()
      // A failed count says nothing: whether the engine answers is for the delivery itself to find out.
      if (age > REFRESH_MS) count().catch(() => {})
      return false
    },
  }
}
