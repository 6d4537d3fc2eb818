import type { InboxStats } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

const DEADLINE_MS = 5000
/** Number of events from which a count slower than `QUICK_MS` is not repeated for every query. */
const MANY = 10_000
const QUICK_MS = 15
/** Maximum age of a count. */
const MAX_AGE_MS = 10_000
const REFRESH_MS = 7000
/** Time without a query after which counting stops. Metrics are often read once a minute. */
const ASKED_MS = 150_000

/**
 * Counts of all processes. PostgreSQL takes seconds to count a million waiting events. Slow counts are repeated in the
 * background, as long as they are read, and are up to 10 s old.
 */
export class Stats {
  readonly #engine: Pick<Engine, 'readCounts'>
  #last: InboxStats | undefined
  #lastAt = Number.NEGATIVE_INFINITY
  #isSlow = false
  #askedAt = Number.NEGATIVE_INFINITY
  #reading: Promise<InboxStats> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(engine: Pick<Engine, 'readCounts'>) {
    this.#engine = engine
  }

  async read(): Promise<InboxStats> {
    this.#askedAt = performance.now()
    const isFresh = this.#isSlow && this.#askedAt - this.#lastAt < MAX_AGE_MS
    return isFresh ? this.#last! : this.#count()
  }

  stop(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY
    clearTimeout(this.#timer)
  }

  #count(): Promise<InboxStats> {
    this.#reading ??= this.#askEngine().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #askEngine(): Promise<InboxStats> {
    const startedAt = performance.now()
    const counts = this.#engine.readCounts()
    const { oldestAt, untriedAt, waitingError, ...rest } = await withDeadline(counts, {
      operation: 'stats',
      ms: DEADLINE_MS,
    })
    this.#lastAt = performance.now()
    const isLarge = rest.pending + rest.active + rest.dead >= MANY
    this.#isSlow = isLarge && this.#lastAt - startedAt > QUICK_MS
    this.#last = {
      ...rest,
      oldestPendingMs: ageOf(oldestAt),
      oldestUntriedMs: ageOf(untriedAt),
      ...(waitingError !== undefined && { waitingError }),
    }
    this.#repeat()
    return this.#last
  }

  #repeat(): void {
    clearTimeout(this.#timer)
    if (!this.#isSlow || performance.now() - this.#askedAt > ASKED_MS) return
    // A failure shows in the next query.
    this.#timer = setTimeout(() => this.#count().catch(() => {}), REFRESH_MS)
    this.#timer.unref()
  }
}

function ageOf(acceptedAt: number | undefined): number {
  return acceptedAt === undefined ? 0 : Math.max(0, Date.now() - acceptedAt)
}
