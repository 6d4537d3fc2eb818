import { letProcessEnd } from '../lib/let-process-end.ts'
import type { Logger } from '../observe/logger.ts'
import type { Observation } from '../observe/observation.ts'
import {
  type ActivityCounts,
  type ActivitySource,
  type AddActivity,
  activityName,
  BUCKETS,
  bucketOf,
  type Counted,
  OTHER_TYPES,
  slotsAt,
  type Timed,
} from './activity.ts'
import { NOT_KEPT } from './delivery.ts'

/** Longest time for which counts stay in this process alone, which a crash would lose. */
const FLUSH_MS = 2000
/** Types counted one by one. The others share one count. */
const MAX_TYPES = 20
/** Time after which other types may be counted one by one. */
const TYPES_KEPT_MS = 3_600_000
const MAX_TYPE = 128
const COUNTED: readonly Counted[] = ['accepted', 'ingested', 'handled', 'failed', 'retried', 'deadLettered']
const TIMED: readonly Timed[] = ['lag', 'time']

type TypeCounts = Record<Counted, number> & Record<Timed, Uint32Array>

interface CounterParts {
  readonly logger: Logger
  readonly observe: (observation: Observation) => void
}

/**
 * Counts what this process does, and passes it to its inbox every two seconds. A count changes numbers in place: it
 * allocates nothing, and a delivery waits for nothing.
 */
export class ActivityCounter implements ActivitySource {
  readonly #parts: CounterParts
  readonly #types = new Map<string, TypeCounts>()
  #typesSince = 0
  #add: AddActivity | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #hasFailed = false

  constructor(parts: CounterParts) {
    this.#parts = parts
  }

  begin(add: AddActivity): void {
    this.#add = add
  }

  count(counted: Counted, type: string): void {
    this.#of(type)[counted]++
  }

  /** Counts a time, in milliseconds. */
  time(timed: Timed, type: string, ms: number): void {
    this.#of(type)[timed][bucketOf(ms)]!++
  }

  async end(): Promise<void> {
    await this.#flush()
    this.#add = undefined
  }

  #of(type: string): TypeCounts {
    this.#timer ??= this.#flushLater()
    const known = this.#types.get(type)
    if (known !== undefined) return known
    if (this.#types.size >= MAX_TYPES && type !== OTHER_TYPES) return this.#of(OTHER_TYPES)
    const counts = { accepted: 0, ingested: 0, handled: 0, failed: 0, retried: 0, deadLettered: 0 }
    const fresh = { ...counts, lag: new Uint32Array(BUCKETS), time: new Uint32Array(BUCKETS) }
    this.#types.set(type, fresh)
    return fresh
  }

  #flushLater(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => void this.#flush(), FLUSH_MS)
    letProcessEnd(timer)
    return timer
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const now = Date.now()
    const counts = this.#take(now)
    if (counts === undefined || this.#add === undefined) return
    try {
      await this.#add(slotsAt(now, counts))
    } catch (error) {
      this.#tell(error)
    }
  }

  /** Returns all counts, and sets them to 0. `undefined` if there are none. */
  #take(now: number): ActivityCounts | undefined {
    const taken: Record<string, number> = {}
    let isEmpty = true
    const put = (name: string, value: number): void => {
      // Long types may be equal once they are cut.
      taken[name] = (taken[name] ?? 0) + value
      isEmpty = false
    }
    for (const [type, counts] of this.#types) {
      const shown = type.slice(0, MAX_TYPE).replace(NOT_KEPT, '\ufffd')
      for (const counted of COUNTED) {
        if (counts[counted] > 0) put(activityName(counted, shown), counts[counted])
        counts[counted] = 0
      }
      for (const timed of TIMED) {
        for (const [bucket, value] of counts[timed].entries())
          if (value > 0) put(activityName(timed, shown, bucket), value)
        counts[timed].fill(0)
      }
    }
    if (now - this.#typesSince > TYPES_KEPT_MS) {
      this.#typesSince = now
      this.#types.clear()
    }
    return isEmpty ? undefined : taken
  }

  /** An inbox that is down is reported as such. This tells once that figures are missing. */
  #tell(err: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    const message =
      "Figures of the inbox's activity could not be written, and are dropped. No event is affected. This is told once."
    this.#parts.observe({ kind: 'notice', code: 'activity_dropped', message })
    this.#parts.logger.warn({ code: 'activity_dropped', err }, message)
  }
}
