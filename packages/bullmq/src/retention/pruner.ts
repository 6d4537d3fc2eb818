import { type ProcessingPolicy, Rounds, settlesWithin } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

/** Time for which a handled event stays complete, for dashboards. */
const WHOLE_MS = 10_000
const PERIOD_MS = 1000
/**
 * Jobs per statement or script. On Redis, which serves no other client meanwhile, that took 4.6 ms with bodies of 2 KB.
 */
const BITE = 250
/**
 * Pause between two rounds, as a multiple of the last round's time: most of the server's time is left to deliveries.
 */
const PAUSE_FACTOR = 3
const MIN_PAUSE_MS = 10
/**
 * Longest pause. A slow round is mostly a slow link or a wait for a connection, not the server's own time; with longer
 * pauses, a busy queue would outgrow the pruning.
 */
const MAX_PAUSE_MS = 100
const CLOSE_MS = 1000
/** A round whose reply is lost is given up. The slowest one, on PostgreSQL, is ended by its own limit of 10 s. */
const DEADLINE_MS = 30_000

type PrunedEngine = Pick<Engine, 'prune' | 'isFull'>

/**
 * Replaces handled events by their ids, and forgets ids whose retention is over, in small rounds alongside other work.
 * BullMQ's own removal runs inside completions. On PostgreSQL it has no limit, so when many ids expire together no
 * completion ends for minutes. On Redis it runs only when another event is handled, so a full Redis never recovers.
 */
export class Pruner {
  readonly #engine: PrunedEngine
  readonly #wholeMs: number
  readonly #rounds: Rounds<number>
  #running: Promise<number> | undefined
  /** The server is out of memory: until that ends, no event stays complete. */
  #isUrgent = false

  constructor(
    engine: PrunedEngine,
    { retentionMs, rounds }: Pick<ProcessingPolicy, 'retentionMs' | 'rounds'>,
    onError: (error: Error) => void,
  ) {
    this.#engine = engine
    this.#wholeMs = Math.min(WHOLE_MS, retentionMs)
    this.#rounds = new Rounds({
      name: 'prune',
      board: rounds,
      deadlineMs: DEADLINE_MS,
      run: () => (this.#running = this.#bite()),
      succeeded: ms => ms,
      failed: error => {
        onError(error as Error)
        return PERIOD_MS
      },
    })
  }

  start(): void {
    // Processes that start together take turns.
    this.#rounds.next(PERIOD_MS * (0.5 + Math.random() / 2))
  }

  /** Prunes at once, if that helps against an add's error. */
  relieve(error: unknown): void {
    if (this.#isUrgent || !this.#engine.isFull(error)) return
    this.#isUrgent = true
    this.#rounds.next(0)
  }

  async stop(): Promise<void> {
    void this.#rounds.end()
    if (this.#running !== undefined) await settlesWithin(this.#running, CLOSE_MS)
  }

  /** Returns the pause until the next round. */
  async #bite(): Promise<number> {
    const startedAt = performance.now()
    const isUrgent = this.#isUrgent
    let hasMore = false
    try {
      const wholeMs = isUrgent ? 0 : this.#wholeMs
      hasMore = await this.#engine.prune({ wholeMs, limit: BITE, isUrgent })
    } finally {
      this.#running = undefined
      if (!hasMore && isUrgent) this.#isUrgent = false
    }
    return hasMore ? pauseAfter(performance.now() - startedAt) : PERIOD_MS
  }
}

function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * tookMs), MAX_PAUSE_MS)
}
