import { formatMs } from '../../lib/duration.ts'
import { letProcessEnd } from '../../lib/let-process-end.ts'
import type { DeadLetterStore, ProcessingPolicy } from '../inbox.ts'
import { failedBefore } from '../letter-age.ts'

/** Letters dropped in one step, for which deliveries wait. */
const AT_ONCE = 100
/** Pause between two steps, as a multiple of the time that the last one took. */
const PAUSE_FACTOR = 10
const MIN_PAUSE_MS = 50
/** Passes within one retention. A letter may stay that much longer. */
const PASSES = 100
const MIN_REST_MS = 1000
const MAX_REST_MS = 3_600_000
/** A long pass is told while it lasts: if it is a mistake, somebody can still stop it. */
const TELL_EVERY_MS = 60_000

/** What dropping old dead letters needs of the policy. */
export type DropPolicy = Pick<ProcessingPolicy, 'deadLetterRetentionMs' | 'observe' | 'logger'>

/**
 * Drops the dead letters whose retention is over, from now until the returned function is called. Every process of an inbox
 * may do so: each step is one of the engine's own, and drops nothing twice. Does nothing without a retention.
 */
export function dropOldLetters(letters: DeadLetterStore, policy: DropPolicy): () => void {
  const { deadLetterRetentionMs } = policy
  if (deadLetterRetentionMs === undefined) return () => {}
  const dropping = new Dropping(letters, policy, deadLetterRetentionMs)
  dropping.waitFor(MIN_REST_MS)
  return () => dropping.stop()
}

class Dropping {
  readonly #letters: DeadLetterStore
  readonly #policy: DropPolicy
  readonly #retentionMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStopped = false
  /** Letters dropped in this pass that have not been told. */
  #dropped = 0
  /** Monotonic milliseconds at which they were last told. */
  #toldAt = 0

  constructor(letters: DeadLetterStore, policy: DropPolicy, retentionMs: number) {
    this.#letters = letters
    this.#policy = policy
    this.#retentionMs = retentionMs
  }

  waitFor(ms: number): void {
    if (this.#isStopped) return
    // Processes that were started together take turns.
    this.#timer = setTimeout(() => void this.#step(), ms * (0.5 + Math.random() / 2))
    letProcessEnd(this.#timer)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#tell()
  }

  async #step(): Promise<void> {
    const startedAt = performance.now()
    let count = 0
    try {
      const before = await failedBefore(this.#letters, this.#retentionMs)
      if (before !== undefined && !this.#isStopped)
        count = (await this.#letters.discardOlder?.({ failedBefore: before, limit: AT_ONCE })) ?? 0
    } catch (error) {
      // Calls that are pending when the inbox closes fail.
      if (!this.#isStopped) this.#policy.observe({ kind: 'store_down', operation: 'retention', error })
    }
    if (this.#dropped === 0) this.#toldAt = startedAt
    this.#dropped += count
    if (this.#isStopped || performance.now() - this.#toldAt >= TELL_EVERY_MS) this.#tell()
    if (count >= AT_ONCE)
      return this.waitFor(Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedAt)))
    this.#tell()
    this.waitFor(Math.max(MIN_REST_MS, Math.min(MAX_REST_MS, this.#retentionMs / PASSES)))
  }

  /** Once for each pass, and each minute of a long one: a line for each letter would hide the rest of the log. */
  #tell(): void {
    const dropped = this.#dropped
    if (dropped === 0) return
    this.#dropped = 0
    this.#toldAt = performance.now()
    const { observe, logger } = this.#policy
    observe({ kind: 'dropped', cause: 'retention', dead: dropped, waiting: 0 })
    logger.warn(
      { code: 'dead_letters_dropped', dropped },
      `${dropped} dead ${dropped === 1 ? 'letter was' : 'letters were'} dropped, because the last attempt is longer ago than deadLetterRetention, ${formatMs(this.#retentionMs)}: the events were acknowledged, and will not be handled.`,
    )
  }
}
