import {
  type ActivityQuery,
  type ActivitySlot,
  BUCKETS,
  bucketMs,
  OTHER_TYPES,
  readActivityName,
} from '@ackhook/core/spi'
import type { ActivityFigures, ActivityPoint, Figures, Percentiles } from '../protocol/protocol.ts'

/** Types shown one by one. */
const MAX_TYPES = 20

/** Sums of counts, of one type or of all. */
export class Tally {
  accepted = 0
  handled = 0
  failed = 0
  retried = 0
  deadLettered = 0
  readonly lag: number[] = Array(BUCKETS).fill(0)
  readonly time: number[] = Array(BUCKETS).fill(0)

  get ended(): number {
    return this.handled + this.failed
  }

  add(other: Tally): void {
    this.accepted += other.accepted
    this.handled += other.handled
    this.failed += other.failed
    this.retried += other.retried
    this.deadLettered += other.deadLettered
    for (const timed of ['lag', 'time'] as const)
      for (const [bucket, count] of other[timed].entries()) this[timed][bucket]! += count
  }

  figures(): Figures {
    const { accepted, handled, failed, retried, deadLettered } = this
    const [lag, handlerTime] = [percentilesOf(this.lag), percentilesOf(this.time)]
    return {
      accepted,
      handled,
      failed,
      retried,
      deadLettered,
      ...(this.ended > 0 && { failedShare: failed / this.ended }),
      ...(lag && { lag }),
      ...(handlerTime && { handlerTime }),
    }
  }
}

/** Returns the counts of a slot by type. What a later release counts is left out. */
export function talliesOf({ counts }: Pick<ActivitySlot, 'counts'>): ReadonlyMap<string, Tally> {
  const byType = new Map<string, Tally>()
  for (const [name, value] of Object.entries(counts)) {
    const read = readActivityName(name)
    if (read === undefined || read.bucket >= BUCKETS || !Number.isFinite(value)) continue
    const { counted, type, bucket } = read
    const tally = byType.get(type) ?? new Tally()
    byType.set(type, tally)
    if (counted === 'lag' || counted === 'time') tally[counted][bucket]! += value
    // Ingested events are among the accepted ones.
    else if (counted !== 'ingested') tally[counted] += value
  }
  return byType
}

/** Returns the figures of a window: at most twenty types and the others, and a point for each slot. */
export function figuresOf(
  slots: readonly ActivitySlot[],
  { lengthMs, since }: ActivityQuery,
  now: number,
): ActivityFigures {
  const total = new Tally()
  const byType = new Map<string, Tally>()
  const points = new Map<number, Tally>()
  for (const slot of slots) {
    const point = new Tally()
    points.set(slot.startedAt, point)
    for (const [type, tally] of talliesOf(slot)) {
      point.add(tally)
      const sum = byType.get(type) ?? new Tally()
      byType.set(type, sum)
      sum.add(tally)
    }
    total.add(point)
  }
  const series: ActivityPoint[] = []
  for (let at = since; at <= now; at += lengthMs)
    series.push({ at, ...(points.get(at) ?? new Tally()).figures() })
  return { since, slotMs: lengthMs, total: total.figures(), types: typesOf(byType), series }
}

/** The busiest types first. The others, without a name, come last. */
function typesOf(byType: ReadonlyMap<string, Tally>): ActivityFigures['types'] {
  const named = [...byType].filter(([type]) => type !== OTHER_TYPES)
  named.sort(([, a], [, b]) => busyOf(b) - busyOf(a))
  const rest = byType.get(OTHER_TYPES) ?? new Tally()
  for (const [, tally] of named.slice(MAX_TYPES)) rest.add(tally)
  const shown = named.slice(0, MAX_TYPES).map(([type, tally]) => ({ type, ...tally.figures() }))
  return busyOf(rest) > 0 ? [...shown, rest.figures()] : shown
}

function busyOf({ accepted, ended, deadLettered }: Tally): number {
  return accepted + ended + deadLettered
}

/** Each is the middle of its bucket, at most 9 % from the exact one. `undefined` without any time. */
function percentilesOf(counts: readonly number[]): Percentiles | undefined {
  const count = counts.reduce((sum, one) => sum + one, 0)
  return count === 0
    ? undefined
    : { p50: percentile(counts, 0.5, count), p95: percentile(counts, 0.95, count) }
}

function percentile(counts: readonly number[], share: number, count: number): number {
  const rank = Math.ceil(share * count)
  let passed = 0
  const bucket = counts.findIndex(one => {
    passed += one
    return passed >= rank
  })
  return bucketMs(bucket)
}
