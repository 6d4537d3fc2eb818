import { formatMs } from '../../lib/duration.ts'
import { Rounds } from '../../lib/rounds.ts'
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
/** A step that has not been answered by then is given up: an engine may lose a reply. */
const DEADLINE_MS = 30_000

/** What dropping old dead letters needs of the policy. */
export type DropPolicy = Pick<ProcessingPolicy, 'deadLetterRetentionMs' | 'observe' | 'logger' | 'rounds'>

/**
 * Drops the dead letters whose retention is over, from now until the returned function is called. Every process of an inbox
 * may do so: each step is one of the engine's own, and drops nothing twice. Does nothing without a retention.
 */
export function dropOldLetters(letters: DeadLetterStore, policy: DropPolicy): () => void {
  const { deadLetterRetentionMs } = policy
  if (deadLetterRetentionMs === undefined) return () => {}
  const dropping = new Dropping(letters, policy, deadLetterRetentionMs)
  return () => dropping.stop()
}

class Dropping {
  readonly #letters: DeadLetterStore
  readonly #policy: DropPolicy
  readonly #retentionMs: number
  readonly #rounds: Rounds<number>
  /** Letters dropped in this pass that have not been told. */
  #dropped = 0
  /** Monotonic milliseconds at which they were last told. */
  #toldAt = 0

  constructor(letters: DeadLetterStore, policy: DropPolicy, retentionMs: number) {
    this.#letters = letters
    this.#policy = policy
    this.#retentionMs = retentionMs
    this.#rounds = new Rounds({
      name: 'retention',
      board: policy.rounds,
      deadlineMs: DEADLINE_MS,
      run: () => this.#step(),
      succeeded: inTurn,
      failed: error => {
        policy.observe({ kind: 'store_down', operation: 'retention', error })
        return inTurn(this.#restMs)
      },
    })
    this.#rounds.next(inTurn(MIN_REST_MS))
  }

  stop(): void {
    void this.#rounds.end()
    this.#tell()
  }

  /** Returns the pause until the next step. */
  async #step(): Promise<number> {
    const startedAt = performance.now()
    const before = await failedBefore(this.#letters, this.#retentionMs)
    const count =
      before === undefined || this.#rounds.hasEnded
        ? 0
        : ((await this.#letters.discardOlder?.({ failedBefore: before, limit: AT_ONCE })) ?? 0)
    if (this.#dropped === 0) this.#toldAt = startedAt
    this.#dropped += count
    if (this.#rounds.hasEnded || performance.now() - this.#toldAt >= TELL_EVERY_MS) this.#tell()
    if (count >= AT_ONCE && !this.#rounds.hasEnded)
      return Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (performance.now() - startedAt))
    this.#tell()
    return this.#restMs
  }

  get #restMs(): number {
    return Math.max(MIN_REST_MS, Math.min(MAX_REST_MS, this.#retentionMs / PASSES))
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

/** Processes that were started together take turns. */
function inTurn(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}
