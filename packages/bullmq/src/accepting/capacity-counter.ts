import type { MaybePromise } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

const REFRESH_MS = 1000
const RECHECK_MS = 50
/** A count that takes long is repeated less often, so that it keeps the server busy for a small part of the time. */
const MAX_SHARE = 0.05
const MANY = 10_000

/**
 * Counts the events that wait or run, closely enough to refuse more. A count for each delivery would be another round
 * trip: so the engine counts once a second, deliveries of this process are added in between, and where that leaves no
 * room the engine counts again, at most every 50 ms; both less often where a count takes long. Several processes together may exceed the capacity by what they
 * accept in a second.
 */
export class CapacityCounter {
  readonly #engine: Pick<Engine, 'countUnfinished'>
  readonly #capacity: number
  readonly #deadlineMs: number
  /** The engine's last count. */
  #counted = 0
  /** Reserved here, as far as the last count may not include it. */
  #reserved = 0
  /** Being added: a count may include them or not, and counting them twice is better than not at all. */
  #underWay = 0
  #countedAt = Number.NEGATIVE_INFINITY
  #tookMs = 0
  #counting: Promise<void> | undefined

  constructor(engine: Pick<Engine, 'countUnfinished'>, capacity: number, deadlineMs: number) {
    this.#engine = engine
    this.#capacity = capacity
    this.#deadlineMs = deadlineMs
  }

  /** Reserves room for one event; `false` if there is none. Rejects if the engine had to count and did not reply. */
  reserve(): MaybePromise<boolean> {
    if (!this.#hasRoom()) return this.#isOlderThan(RECHECK_MS) && this.#count().then(() => this.#take())
    // A failed count decides nothing: the delivery itself shows whether the engine replies.
    if (this.#isOlderThan(REFRESH_MS)) this.#count().catch(() => {})
    return this.#take()
  }

  /** Ends a reservation: the event is added, and counted by the engine from now on, or its delivery was refused. */
  release(): void {
    this.#underWay--
  }

  /** Returns whether the last count left no room, and is fresh or being repeated. Never calls the engine. */
  isKnownFull(): boolean {
    return !this.#hasRoom() && (this.#counting !== undefined || !this.#isOlderThan(RECHECK_MS))
  }

  #hasRoom(): boolean {
    return this.#counted + this.#reserved < this.#capacity
  }

  #isOlderThan(ms: number): boolean {
    return performance.now() - this.#countedAt > Math.max(ms, this.#tookMs / MAX_SHARE)
  }

  /** Checks and reserves in one step: several deliveries may have waited for the same count. */
  #take(): boolean {
    if (!this.#hasRoom()) return false
    this.#reserved++
    this.#underWay++
    return true
  }

  #count(): Promise<void> {
    this.#counting ??= this.#askEngine().finally(() => {
      this.#countedAt = performance.now()
      this.#counting = undefined
    })
    return this.#counting
  }

  async #askEngine(): Promise<void> {
    const startedAt = performance.now()
    const included = this.#reserved - this.#underWay
    const count = this.#engine.countUnfinished(this.#capacity)
    this.#counted = await withDeadline(count, { operation: 'inbox.count', ms: this.#deadlineMs })
    this.#reserved -= included
    this.#tookMs = this.#counted < MANY ? 0 : performance.now() - startedAt
  }
}
