import type { Duration } from '@ackhook/core'
import { durationMs } from '@ackhook/core/spi'

/** A clock that moves only when you move it. Call it to get the milliseconds since the epoch. */
export interface FakeClock {
  (): number
  /** Moves forward by a duration such as `'5m'`. */
  advance(by: Duration): void
  /** Moves to an instant, which may be earlier. */
  set(instant: Date | number | string): void
}

const CENTURY_MS = 36_525 * 86_400_000

/**
 * Creates a clock for the option `clock` of a receiver and of {@link createSender}. It starts at `start` (a `Date`,
 * milliseconds since the epoch or an ISO 8601 string; default: now). Throws `RangeError` for anything else.
 *
 * @example
 * const clock = fakeClock('2026-03-01T12:00:00Z')
 * const receiver = createReceiver({ secret, clock })
 * clock.advance('6m')
 */
export function fakeClock(start: Date | number | string = Date.now()): FakeClock {
  let now = instantMs(start)
  return Object.assign(() => now, {
    advance(by: Duration) {
      now += durationMs(by, { option: 'by', minMs: 0, maxMs: CENTURY_MS })
    },
    set(instant: Date | number | string) {
      now = instantMs(instant)
    },
  })
}

function instantMs(instant: Date | number | string): number {
  const ms = typeof instant === 'number' ? instant : new Date(instant).getTime()
  if (Number.isFinite(ms)) return ms
  throw new RangeError(
    `'${String(instant)}' is not an instant: pass a Date, milliseconds or an ISO 8601 text`,
  )
}
