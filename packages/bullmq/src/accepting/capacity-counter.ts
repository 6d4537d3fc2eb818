import type { MaybePromise } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'

const REFRESH_MS = 1000
const RECHECK_MS = 50
/** A slow count is repeated less often, so that counting takes only a small part of the server's time. */
const MAX_SHARE = 0.05
const MANY = 10_000

/**
 * Counts unfinished events closely enough to refuse more. Counting for each delivery would cost another round trip, so
 * the engine counts once a second, and this process's deliveries are added in between. If they leave no room, the
 * engine counts again, at most every 50 ms; slow counts are less frequent. Several processes together may exceed the
 * capacity by the events they accept in a second.
 */
export class CapacityCounter {
  readonly #engine: Pick<Engine, 'countUnfinished'>
  readonly #capacity: number
  readonly #deadlineMs: number
  /** The engine's last count. */
  #counted = 0
  /** Reserved by this process, and possibly missing from the last count. */
  #reserved = 0
  /** Being added. A count may already include them; counting them twice is better than missing them. */
  #underWay = 0
  #countedAt = Number.NEGATIVE_INFINITY
  #tookMs = 0
  #counting: Promise<void> | undefined

  constructor(engine: Pick<Engine, 'countUnfinished'>, capacity: number, deadlineMs: number) {
    this.#engine = engine
    this.#capacity = capacity
    this.#deadlineMs = deadlineMs
  }

  /** Reserves room for one event. `false` if there is none. Rejects if the engine had to count but did not reply. */
  reserve(): MaybePromise<boolean> {
    if (!this.#hasRoom()) return this.#isOlderThan(RECHECK_MS) && this.#count().then(() => this.#take())
    if (!this.#isOlderThan(REFRESH_MS)) return this.#take()
    // A failed count decides nothing: the delivery itself shows whether the engine replies.
    const counted = this.#count().catch(() => {})
    const isFirst = this.#countedAt === Number.NEGATIVE_INFINITY
    return isFirst ? counted.then(() => this.#take()) : this.#take()
  }

  /** Ends a reservation: the delivery was refused, or the event was added and the engine counts it from now on. */
  release(): void {
    this.#underWay--
  }

  /** Returns whether the last count left no room and is either fresh or being repeated. Never calls the engine. */
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
