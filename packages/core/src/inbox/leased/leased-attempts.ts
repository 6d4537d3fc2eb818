import { settlesWithin, withDeadline } from '../../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import { ABORT } from '../attempt.ts'
import { eventRef } from '../delivery.ts'
import type { AttemptResult, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import type { Held } from '../lease-time.ts'
import { RecordRetries } from '../record-retries.ts'
import { Leases } from './leases.ts'
import type { LeaseEngine, Standing, Take } from './take.ts'

/** What a {@link LeasedAttempts} stands on. */
export interface LeasedAttemptsParts<T extends Take> {
  readonly engine: LeaseEngine<T>
  /** Runs the handlers. Does not reject. */
  readonly work: ProcessEvent
  readonly policy: Pick<ProcessingPolicy, 'observe'>
  /** Time after which a lease is renewed: a third of it, or less. */
  readonly renewMs: number
  /**
   * Whether an end is recorded only as long as the lease holds, which is then no longer renewed: another process may run
   * the event after it. Default: until the drain's deadline.
   */
  readonly recordsUnderLease?: boolean
  /** Called with each request that failed. It is repeated, or the lease expires. */
  readonly onError: (error: unknown) => void
}

/**
 * How a try to attempt an event ended, if not with a result that counts: `not_begun`, since its lease could not be
 * renewed or the drain is over; `withdrawn`, since its lease ran out and nobody is known to have the event; `lost` to
 * another owner.
 */
export type Unended = 'not_begun' | 'withdrawn' | 'lost'

/** Time that withdrawn attempts have to end, and the last records to be made: a store replies within a second. */
const GRACE_MS = 1200

/**
 * Steps 10 and 11 for every inbox with leases. A handler begins only under a lease that is known to hold. An attempt
 * whose lease has run out by this process's clocks is withdrawn, whoever can be asked. An end is recorded until the
 * drain's deadline, or as long as the lease lets it. Nothing begins once it could not be recorded any more.
 *
 * An engine that hands its events out again calls {@link run}. One whose events wait here, for their turn or a retry,
 * calls {@link hold}, {@link attempt}, {@link record} and {@link drop}.
 */
export class LeasedAttempts<T extends Take> {
  readonly #parts: LeasedAttemptsParts<T>
  readonly #leases: Leases<T>
  readonly #retries = new RecordRetries()
  /** The drain ran out of time: running attempts are withdrawn, and nothing begins. */
  #isOver = false

  constructor(parts: LeasedAttemptsParts<T>) {
    const { engine, renewMs, recordsUnderLease = false, onError } = parts
    this.#parts = parts
    const onWithdrawn = (take: T): void => {
      this.#reportLost(take)
      take.attempt.abort(ABORT.leaseLost())
    }
    this.#leases = new Leases({ engine, renewMs, recordsUnderLease, onWithdrawn, onError })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the loss of this take's lease would change what becomes of the event. */
  isJudged(take: T): boolean {
    return take.standing?.isJudged === true
  }

  /** Whether its handlers run, and their result will count. */
  isRunning(take: T): boolean {
    return take.standing?.state === 'running'
  }

  /** Another owner has the event: a running attempt is withdrawn. Nothing follows once the end is being recorded. */
  lose(take: T): void {
    this.#leases.lose(take)
  }

  /**
   * Runs one take from here to its end: the attempt, and the record of its result; or the event goes back. `turn`
   * resolves to whether it may begin. Never rejects.
   */
  async run(take: T, turn?: Promise<boolean>): Promise<void> {
    this.hold(take)
    try {
      const ended = turn === undefined || (await turn) ? await this.attempt(take) : 'not_begun'
      if (ended === 'not_begun') await this.#giveBack(take, false)
      // Whoever asks for it has it, unless the lease was renewed after all.
      else if (ended === 'withdrawn') await (take.lease.hasExpired() || this.#giveBack(take, true))
      else if (ended === 'lost') return
      else if (this.#isOver && ended.outcome !== 'completed') await this.#giveBack(take, true)
      else await this.record(take, ended)
    } finally {
      this.drop(take)
    }
  }

  /** Keeps the lease of an event that waits: for its first attempt, or for the next one after a result. */
  hold(take: T): void {
    const { standing } = take
    if (standing === undefined) this.#leases.add(take)
    else {
      standing.state = 'taken'
      standing.result = undefined
    }
  }

  /** Ends a take: nothing is renewed, asked or reported any more. Harmless when repeated. */
  drop(take: T): void {
    this.#leases.drop(take)
  }

  /** Attempts an event that is held. Resolves to the result once the handlers have ended, for {@link record} or {@link hold}. */
  async attempt(take: T): Promise<AttemptResult | Unended> {
    const { standing } = take
    if (standing === undefined) return 'lost'
    if (take.lease.isPastHalf() || standing.asking !== undefined) await this.#leases.ask(take, standing)
    if (!this.#isReady(take, standing)) return unbegun(standing)
    const begun = this.#parts.engine.begin?.(take) ?? 'held'
    if (begun !== 'held' && !(await this.#hasBegun(take, standing, begun))) return unbegun(standing)
    standing.state = 'running'
    standing.hasHandlers = true
    try {
      const working = this.#parts.work(take.delivery, take.attempt)
      const result = isPromise(working) ? await working : working
      // Dropped meanwhile: its engine knows what the result still means.
      if (take.standing === undefined) return result
      if (standing.state !== 'running') return standing.state === 'over' ? 'lost' : 'withdrawn'
      standing.state = 'recording'
      return result
    } finally {
      standing.hasHandlers = false
    }
  }

  async #hasBegun(take: T, standing: Standing, begun: Held | Promise<Held>): Promise<boolean> {
    try {
      const { leaseMs } = take.lease
      const held = await withDeadline(Promise.resolve(begun), { operation: 'begin', ms: leaseMs })
      if (held === 'lost') this.lose(take)
      return held === 'held' && this.#isReady(take, standing)
    } catch (error) {
      this.#parts.onError(error)
      return false
    }
  }

  #isReady({ lease }: T, { state }: Standing): boolean {
    return state === 'taken' && !this.#isOver && !lease.isPastHalf()
  }

  /** Records the result of {@link attempt}: until it is made, or it is reported that it cannot be. Never rejects. */
  async record(take: T, result: AttemptResult): Promise<void> {
    const { engine, recordsUnderLease, onError } = this.#parts
    const { standing } = take
    if (standing === undefined) return
    standing.result = result
    for (let tries = 0; standing.result !== undefined; ) {
      try {
        const isOurs = await engine.record(take, result, tries)
        // Reported by the drain meanwhile.
        if (standing.result === undefined) return
        standing.result = undefined
        if (!isOurs) this.#reportLost(take)
      } catch (error) {
        onError(error)
        tries++
        const openMs = recordsUnderLease ? take.lease.remaining() : undefined
        if (!(await this.#retries.next(tries, openMs))) this.#reportUnrecorded(take, standing, error)
      }
    }
  }

  /** Without the engine, the lease expires instead. */
  async #giveBack(take: T, begun: boolean): Promise<void> {
    const { engine, onError } = this.#parts
    const giving = async (): Promise<unknown> => engine.giveBack?.(take, begun)
    await settlesWithin(giving().catch(onError), take.lease.leaseMs)
  }

  #reportLost({ delivery }: T): void {
    this.#parts.policy.observe({ kind: 'lease_lost', ...eventRef(delivery) })
  }

  #reportUnrecorded({ delivery }: T, standing: Standing, error: unknown): void {
    const outcome = standing.result?.outcome
    standing.result = undefined
    // A postponed event has lost nothing: no handler has seen it.
    if (outcome === undefined || outcome === 'postponed') return
    const kind = outcome === 'completed' ? 'completion_lost' : 'failure_lost'
    this.#parts.policy.observe({ kind, ...eventRef(delivery), error })
  }

  /** Waits for what is held, then withdraws the rest. `onOver` is called, and awaited, once nothing begins any more. */
  async drain(timeoutMs: number, onOver: () => MaybePromise<void> = () => {}): Promise<void> {
    this.#retries.drain(timeoutMs)
    const isIdle = await this.#idleWithin(timeoutMs)
    this.#isOver = true
    await onOver()
    if (!isIdle) {
      for (const take of this.#leases.all())
        if (take.standing?.hasHandlers) take.attempt.abort(ABORT.drained())
      await this.#idleWithin(GRACE_MS)
      // Reported now: the process may end right after its drain, and a hanging engine never refuses a record.
      for (const take of this.#leases.all())
        if (take.standing !== undefined) this.#reportUnrecorded(take, take.standing, ABORT.drained())
    }
    this.#leases.stop()
  }

  #idleWithin(ms: number): Promise<boolean> {
    return this.#leases.size === 0 ? Promise.resolve(true) : settlesWithin(this.#leases.idle(), ms)
  }
}

function unbegun({ state }: Standing): Unended {
  return state === 'taken' ? 'not_begun' : 'lost'
}
