import { type ProcessingPolicy, settlesWithin } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

/** Time for which a handled event stays whole, for dashboards. */
const WHOLE_MS = 10_000
const PERIOD_MS = 1000
/** Jobs of one statement or script. On Redis, where everything else waits for it, it took 4.6 ms with bodies of 2 KB. */
const BITE = 250
/** Pause between two bites, as a multiple of the last one's time: the server keeps most of its time for deliveries. */
const PAUSE_FACTOR = 3
const MIN_PAUSE_MS = 10
/** A long bite is mostly a slow link or a wait for a connection, not the server's time: a busy queue would outrun the bites. */
const MAX_PAUSE_MS = 100
const CLOSE_MS = 1000

type PrunedEngine = Pick<Engine, 'prune' | 'isFull'>

/**
 * Replaces handled events by their ids, and forgets ids whose retention is over, in small bites beside the work. BullMQ's
 * own removal runs inside completions: without a limit on PostgreSQL, so that none ends for minutes when many ids
 * expire together; on Redis only when another event is handled, so that a full Redis never recovers.
 */
export class Pruner {
  readonly #engine: PrunedEngine
  readonly #wholeMs: number
  readonly #onError: (error: Error) => void
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  /** The server has no memory left: nothing stays whole until it has. */
  #isUrgent = false
  #stopped = false

  constructor(engine: PrunedEngine, { retentionMs }: ProcessingPolicy, onError: (error: Error) => void) {
    this.#engine = engine
    this.#wholeMs = Math.min(WHOLE_MS, retentionMs)
    this.#onError = onError
  }

  start(): void {
    // Processes that start together take turns.
    this.#schedule(PERIOD_MS * (0.5 + Math.random() / 2))
  }

  /** Prunes at once if that helps against this error of an add. */
  relieve(error: unknown): void {
    if (this.#isUrgent || !this.#engine.isFull(error)) return
    this.#isUrgent = true
    if (this.#running === undefined) this.#schedule(0)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    if (this.#running !== undefined) await settlesWithin(this.#running, CLOSE_MS)
  }

  #schedule(ms: number): void {
    if (this.#stopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#running = this.#bite()
    }, ms)
    this.#timer.unref()
  }

  async #bite(): Promise<void> {
    const startedAt = performance.now()
    const now = Date.now()
    const isUrgent = this.#isUrgent
    let hasMore = false
    try {
      const handledBefore = isUrgent ? now : now - this.#wholeMs
      hasMore = await this.#engine.prune({ now, handledBefore, limit: BITE, isUrgent })
    } catch (error) {
      this.#onError(error as Error)
    }
    this.#running = undefined
    if (!hasMore && isUrgent) this.#isUrgent = false
    this.#schedule(hasMore ? pauseAfter(performance.now() - startedAt) : PERIOD_MS)
  }
}

function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * tookMs), MAX_PAUSE_MS)
}
