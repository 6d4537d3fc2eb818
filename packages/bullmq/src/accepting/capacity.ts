import type { MaybePromise } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from '../create-engine.ts'

const REFRESH_MS = 1000
const RECHECK_MS = 50

/** How many events wait or run, well enough to refuse more. */
export interface Gauge {
  /** Takes room for one more; `false` when there is none. Rejects when the engine had to be asked and did not answer. */
  reserve(): MaybePromise<boolean>
  /** The event that room was taken for is added, or nobody waits for that any more: now the engine counts it. */
  release(): void
  /** Whether the last count left no room, and is fresh or being renewed. Asks nobody. */
  isKnownFull(): boolean
}

/**
 * Counting at every delivery would be another round trip. So the engine is asked once a second, deliveries of
 * this process are added in between, and where that leaves no room it is asked again, once in 50 ms. Other processes
 * may go beyond the capacity by what they accept in a second.
 */
export function createGauge(
  { countHeld }: Pick<Engine, 'countHeld'>,
  capacity: number,
  deadlineMs: number,
): Gauge {
  let counted = 0
  let since = 0
  /** Being added: a count may have seen them or not, and they count twice sooner than not at all. */
  let underWay = 0
  let countedAt = Number.NEGATIVE_INFINITY
  let counting: Promise<void> | undefined

  function count(): Promise<void> {
    counting ??= (async () => {
      const before = since - underWay
      counted = await withDeadline(countHeld(), { operation: 'inbox.count', ms: deadlineMs })
      since -= before
    })().finally(() => {
      countedAt = performance.now()
      counting = undefined
    })
    return counting
  }

  const hasRoom = (): boolean => counted + since < capacity
  const ageMs = (): number => performance.now() - countedAt

  /** Looks and takes in one step: all who waited for one count would see the same room. */
  function take(): boolean {
    if (!hasRoom()) return false
    since++
    underWay++
    return true
  }

  return {
    reserve() {
      if (!hasRoom()) return ageMs() > RECHECK_MS && count().then(take)
      // A failed count says nothing: whether the engine answers is for the delivery itself to find out.
      if (ageMs() > REFRESH_MS) count().catch(() => {})
      return take()
    },
    release: () => void underWay--,
    isKnownFull: () => !hasRoom() && (counting !== undefined || ageMs() <= RECHECK_MS),
  }
}
