import { afterArrivals, settlesWithin } from '../../lib/deadline.ts'
import { ABORT, type Attempt } from '../attempt.ts'
import { type Delivery, eventRef } from '../delivery.ts'
import type { AttemptResult, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import { LeaseTime, momentNow } from '../lease-time.ts'
import { RecordRetries } from '../record-retries.ts'

/** One event that this process has taken from an engine, under a lease. */
export interface Take {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly lease: LeaseTime
}

/** Whether a lease is held now. `unknown`: the engine did not say, and it may still be. */
export type Held = 'held' | 'lost' | 'unknown'

/** What only an engine knows: how a lease is renewed, and an end recorded. */
export interface LeaseEngine<T extends Take> {
  /** Renews leases, with one request if it can. Resolves to what became of each. */
  renew(takes: readonly T[]): Promise<readonly Held[]>
  /** Finds out who has an event whose lease is gone or may be, and takes it again if nobody has. */
  retake(take: T): Promise<Held>
  /** Called right before the handlers, under a lease that holds. */
  begin?(take: T): Held | Promise<Held>
  /**
   * Records how an attempt ended. `false`: another owner has the event. A rejection means that nothing is recorded: it is
   * called again, with the number of tries before.
   */
  record(take: T, result: AttemptResult, tries: number): Promise<boolean>
  /** Returns an event as it was: nothing has begun, or the drain has withdrawn the attempt. */
  giveBack(take: T, begun: boolean): Promise<unknown>
}

/** What a {@link LeasedAttempts} stands on. */
export interface LeasedAttemptsParts<T extends Take> {
  readonly engine: LeaseEngine<T>
  readonly work: ProcessEvent
  readonly policy: Pick<ProcessingPolicy, 'observe'>
  readonly renewMs: number
  /** Whether an end is recorded only as long as the lease holds, because another process may then run the event. */
  readonly recordsUnderLease?: boolean
  /** Called with each request that failed. It is repeated, or the lease expires. */
  readonly onError: (error: unknown) => void
}

/** `recording` begins when the handlers have ended: the lease is still renewed, but its loss decides nothing any more. */
type State = 'taken' | 'running' | 'recording' | 'over'

/** Time that withdrawn attempts have to end, and the last records to be made. */
const GRACE_MS = 1000

/**
 * Steps 10 and 11 for every engine with leases: begins an attempt only under a lease that is known to hold, renews it
 * until the end is recorded, records the end until it is made, and gives back what the drain cuts short.
 */
export class LeasedAttempts<T extends Take> {
  readonly #parts: LeasedAttemptsParts<T>
  readonly #takes = new Map<T, State>()
  /** Ends that are being recorded. */
  readonly #recording = new Map<T, AttemptResult>()
  readonly #asking = new Map<T, Promise<void>>()
  readonly #retries = new RecordRetries()
  #timer: ReturnType<typeof setTimeout> | undefined
  #onIdle: (() => void) | undefined
  /** The drain ran out of time: running attempts are withdrawn, and nothing begins. */
  #isOver = false

  constructor(parts: LeasedAttemptsParts<T>) {
    this.#parts = parts
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the loss of this take's lease would change what becomes of the event. */
  isJudged(take: T): boolean {
    const state = this.#takes.get(take)
    return state === 'taken' || state === 'running'
  }

  isRunning(take: T): boolean {
    return this.#takes.get(take) === 'running'
  }

  /** Runs one take to its end. `turn` resolves to whether it may begin. Never rejects. */
  async run(take: T, turn?: Promise<boolean>): Promise<void> {
    this.#takes.set(take, 'taken')
    if (this.#timer === undefined) this.#checkIn(this.#parts.renewMs)
    try {
      const mayBegin = ((await turn) ?? true) && (await this.#mayBegin(take))
      if (mayBegin) await this.#attempt(take)
      else if (this.#takes.get(take) === 'taken') await this.#giveBack(take, false)
    } finally {
      this.#takes.delete(take)
      if (this.#takes.size === 0) this.#onIdle?.()
    }
  }

  async #mayBegin(take: T): Promise<boolean> {
    if (take.lease.isPastHalf()) await this.#ask(take)
    if (!this.#isReady(take)) return false
    const begun = (await this.#parts.engine.begin?.(take)) ?? 'held'
    if (begun === 'lost') this.lose(take)
    return begun === 'held' && this.#isReady(take)
  }

  #isReady(take: T): boolean {
    return this.#takes.get(take) === 'taken' && !this.#isOver && !take.lease.isPastHalf()
  }

  async #attempt(take: T): Promise<void> {
    this.#takes.set(take, 'running')
    const result = await this.#parts.work(take.delivery, take.attempt)
    // Lost meanwhile: its result no longer counts.
    if (!this.isRunning(take)) return
    this.#takes.set(take, 'recording')
    if (this.#isOver && result.outcome !== 'completed') await this.#giveBack(take, true)
    else await this.#record(take, result)
  }

  async #record(take: T, result: AttemptResult): Promise<void> {
    const { engine, recordsUnderLease, onError } = this.#parts
    this.#recording.set(take, result)
    for (let tries = 0; this.#recording.has(take); ) {
      try {
        const isOurs = await engine.record(take, result, tries)
        if (this.#recording.delete(take) && !isOurs) this.#reportLost(take)
        return
      } catch (error) {
        onError(error)
        tries++
        const openMs = recordsUnderLease ? take.lease.remaining() : undefined
        if (!(await this.#retries.next(tries, openMs))) this.#reportUnrecorded(take, error)
      }
    }
  }

  /** Without the engine, the lease expires instead. */
  async #giveBack(take: T, begun: boolean): Promise<void> {
    const given = this.#parts.engine.giveBack(take, begun).catch(this.#parts.onError)
    await settlesWithin(given, take.lease.leaseMs)
  }

  /** Another owner has the event: the attempt no longer counts. */
  lose(take: T): void {
    const wasRunning = this.isRunning(take)
    if (!this.isJudged(take)) return
    this.#takes.set(take, 'over')
    if (!wasRunning) return
    this.#reportLost(take)
    take.attempt.abort(ABORT.leaseLost())
  }

  #reportLost({ delivery }: T): void {
    this.#parts.policy.observe({ kind: 'lease_lost', ...eventRef(delivery) })
  }

  #reportUnrecorded(take: T, error: unknown): void {
    const outcome = this.#recording.get(take)?.outcome
    // A postponed event has lost nothing: no handler has seen it.
    if (!this.#recording.delete(take) || outcome === 'postponed') return
    const kind = outcome === 'completed' ? 'completion_lost' : 'failure_lost'
    this.#parts.policy.observe({ kind, ...eventRef(take.delivery), error })
  }

  /** Waits for what runs, then withdraws the rest. `onOver` is called once nothing begins any more. */
  async drain(timeoutMs: number, onOver: () => void = () => {}): Promise<void> {
    this.#retries.drain(timeoutMs)
    const isIdle = await this.#idleWithin(timeoutMs)
    this.#isOver = true
    onOver()
    if (!isIdle) {
      for (const [take, state] of this.#takes) if (state === 'running') take.attempt.abort(ABORT.drained())
      await this.#idleWithin(GRACE_MS)
      // Reported now: the process may end right after its drain, and a hanging engine never refuses a record.
      for (const take of this.#recording.keys()) this.#reportUnrecorded(take, ABORT.drained())
    }
    clearTimeout(this.#timer)
  }

  #idleWithin(ms: number): Promise<boolean> {
    if (this.#takes.size === 0) return Promise.resolve(true)
    return settlesWithin(new Promise<void>(resolve => (this.#onIdle = resolve)), ms)
  }

  #checkIn(ms: number): void {
    const round = new LeaseTime(ms)
    // Replies that are here already are read first, since the event loop may have paused.
    this.#timer = setTimeout(afterArrivals, ms, () => this.#check(round))
  }

  /** Renews what is due, and judges what must have expired. After a stall no renewal was sent: the engine is asked first. */
  #check(round: LeaseTime): void {
    const { renewMs, recordsUnderLease } = this.#parts
    this.#timer = undefined
    const hasStalled = round.elapsed() - round.leaseMs > renewMs
    const due: T[] = []
    let nextMs = renewMs
    for (const take of this.#takes.keys()) {
      if (this.#asking.has(take) || (recordsUnderLease && this.#recording.has(take))) continue
      const leftMs = take.lease.remaining()
      if (leftMs > 0) nextMs = Math.min(nextMs, leftMs)
      else if (this.isJudged(take)) {
        if (hasStalled) void this.#ask(take)
        else this.lose(take)
        continue
      }
      if (take.lease.elapsed() >= renewMs / 2) due.push(take)
    }
    if (due.length > 0) void this.#renew(due)
    if (this.#takes.size > 0) this.#checkIn(nextMs)
  }

  async #renew(due: readonly T[]): Promise<void> {
    const { engine, onError } = this.#parts
    const sentAt = momentNow()
    try {
      const held = await engine.renew(due)
      for (const [i, take] of due.entries()) {
        if (held[i] === 'held') take.lease.renewed(sentAt)
        else if (held[i] === 'lost' && this.isJudged(take)) void this.#ask(take)
      }
    } catch (error) {
      onError(error)
    }
  }

  /** Finds out who has an event. Without a reply in time, an attempt is withdrawn: another process may begin. */
  #ask(take: T): Promise<void> {
    const known = this.#asking.get(take)
    if (known !== undefined) return known
    const asking = this.#retake(take).finally(() => this.#asking.delete(take))
    this.#asking.set(take, asking)
    return asking
  }

  async #retake(take: T): Promise<void> {
    const sentAt = momentNow()
    let found: Held = 'unknown'
    const asked = this.#parts.engine.retake(take).then(held => {
      found = held
    }, this.#parts.onError)
    await settlesWithin(asked, take.lease.leaseMs)
    if ((found as Held) === 'held') take.lease.renewed(sentAt)
    else if ((found as Held) === 'lost' || this.isRunning(take)) this.lose(take)
  }
}
