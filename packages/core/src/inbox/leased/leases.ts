import { afterArrivals, withDeadline } from '../../lib/deadline.ts'
import { letProcessEnd } from '../../lib/let-process-end.ts'
import { elapsedSince, type Held, type Moment, momentNow } from '../lease-time.ts'
import { type LeaseEngine, Standing, type Take, type TakeState } from './take.ts'

export interface LeasesParts<T extends Take> {
  readonly engine: Pick<LeaseEngine<T>, 'renew' | 'retake' | 'lost'>
  /** Time after which a lease is renewed: a third of it, or less. */
  readonly renewMs: number
  /** Whether a lease is left to expire while an end is recorded, so that this comes to an end. */
  readonly recordsUnderLease: boolean
  /** Called when a running attempt no longer counts. */
  readonly onWithdrawn: (take: T) => void
  readonly onError: (error: unknown) => void
}

/** Number of leases renewed before other work gets its turn. */
const SLICE = 500
/** Longest time until both clocks are compared with the leases again: a suspended machine stops every timer. */
const TICK_MS = 1000
/** Shortest time between two tries to renew one lease. */
const LEAST_WAIT_MS = 250
/** Time after which a timer that has not fired is given up: on Workers it ends with its request. */
const DEAD_TIMER_MS = 5000

/**
 * The leases of everything that a process has taken. Renews each after `renewMs`, and withdraws a running attempt whose
 * lease is lost, or has run out by this process's own clocks.
 */
export class Leases<T extends Take> {
  readonly #parts: LeasesParts<T>
  /** A list, not a `Map` or `Set` of bodies. perf: note 2. */
  readonly #takes: T[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  /** When the last check was, and how long after it the next one is due. */
  #checkedAt = momentNow()
  #nextMs = 0
  #isStopped = false
  #onIdle: (() => void) | undefined

  constructor(parts: LeasesParts<T>) {
    this.#parts = parts
  }

  get size(): number {
    return this.#takes.length
  }

  /** Copies the list as it is now: later changes leave the copy alone. */
  all(): readonly T[] {
    return [...this.#takes]
  }

  /** Renews the lease of a new take from now on. */
  add(take: T): void {
    const { sentAt } = take.lease
    take.standing = new Standing(sentAt, this.#parts.renewMs, this.#takes.length)
    this.#takes.push(take)
    if (this.#timer === undefined) this.#checkIn(Math.min(this.#parts.renewMs, TICK_MS), sentAt)
    else if (elapsedSince(this.#checkedAt, sentAt) > this.#nextMs + DEAD_TIMER_MS) this.#checkAgain()
  }

  /** Renews it no more. Harmless when repeated. */
  drop(take: T): void {
    const { standing } = take
    if (standing === undefined) return
    standing.state = 'over'
    take.standing = undefined
    const last = this.#takes.pop()
    if (last?.standing !== undefined) {
      this.#takes[standing.place] = last
      last.standing.place = standing.place
    }
    if (this.#takes.length === 0) this.#onIdle?.()
  }

  /** Resolves once there is no take left. */
  idle(): Promise<void> {
    return new Promise(resolve => (this.#onIdle = resolve))
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  /** Another owner has the event. A running attempt no longer counts. */
  lose(take: T): void {
    const { standing } = take
    if (standing?.isJudged !== true) return
    this.#withdraw(take, standing, 'over')
    this.#parts.engine.lost?.(take)
  }

  /** Finds out who has an event, and takes it again if nobody has. Never rejects. */
  ask(take: T, standing: Standing): Promise<void> {
    standing.asking ??= this.#ask(take, standing).finally(() => {
      standing.asking = undefined
    })
    return standing.asking
  }

  async #ask(take: T, standing: Standing): Promise<void> {
    const { engine, onError } = this.#parts
    const sentAt = momentNow()
    const ms = standing.state === 'running' ? this.#replyMs(take) : take.lease.leaseMs
    let held: Held = 'unknown'
    try {
      held = await withDeadline(engine.retake(take), { operation: 'retake', ms })
    } catch (error) {
      onError(error)
    }
    if (held === 'held') this.#renewed(take, standing, sentAt)
    else if (held === 'lost') this.lose(take)
    else if (standing.state === 'running') this.#withdraw(take, standing, 'taken')
  }

  /** Time that a running attempt has until the reply: the rest of its lease or, after a stall, what a slow reply takes. */
  #replyMs({ lease }: T): number {
    return lease.remaining() || Math.min(lease.leaseMs, Math.max(this.#parts.renewMs, TICK_MS))
  }

  #withdraw(take: T, standing: Standing, state: TakeState): void {
    const wasRunning = standing.state === 'running'
    standing.state = state
    if (wasRunning) this.#parts.onWithdrawn(take)
  }

  #renewed(take: T, standing: Standing, sentAt: Moment): void {
    take.lease.renewed(sentAt)
    standing.triedAt = sentAt
    standing.waitMs = this.#parts.renewMs
  }

  #checkAgain(): void {
    clearTimeout(this.#timer)
    this.#checkIn(0, this.#checkedAt)
  }

  #checkIn(ms: number, now: Moment): void {
    if (this.#isStopped) return
    this.#checkedAt = now
    this.#nextMs = ms
    // Replies that are here already are read first, since the event loop may have paused.
    this.#timer = setTimeout(afterArrivals, ms, () => this.#check())
    // What is taken keeps the process alive; a lease by itself does not.
    letProcessEnd(this.#timer)
  }

  /** Judges the running attempts whose lease has run out, and renews what is due. */
  #check(): void {
    const { renewMs } = this.#parts
    const now = momentNow()
    // No renewal was sent while the process, its event loop or a clock stood still: the engine is asked first.
    const hasStalled = elapsedSince(this.#checkedAt, now) > this.#nextMs + renewMs
    this.#timer = undefined
    let nextMs = TICK_MS
    let isDue = false
    // Backward: what is dropped on the way leaves its place to one that was checked.
    for (let at = this.#takes.length - 1; at >= 0; at--) {
      const take = this.#takes[at]
      const standing = take?.standing
      if (take === undefined || standing === undefined) continue
      if (standing.state === 'running' && standing.asking === undefined) {
        const leftMs = take.lease.remaining(now)
        if (leftMs > 0) nextMs = Math.min(nextMs, leftMs)
        else if (hasStalled) void this.ask(take, standing)
        else this.#withdraw(take, standing, 'taken')
      }
      if (!this.#isRenewed(standing)) continue
      const waitMs = standing.waitMs - elapsedSince(standing.triedAt, now)
      if (waitMs <= 0) isDue = true
      else nextMs = Math.min(nextMs, waitMs)
    }
    if (isDue) {
      void this.#renewDue(now)
      // By then it is known how soon those that failed are to be tried again.
      nextMs = Math.min(nextMs, renewMs, LEAST_WAIT_MS)
    }
    if (this.#takes.length > 0) this.#checkIn(nextMs, now)
  }

  #isRenewed({ state, asking }: Standing): boolean {
    if (state === 'over' || asking !== undefined) return false
    return state !== 'recording' || !this.#parts.recordsUnderLease
  }

  /** Renews what is due, and what will be soon: one request for many costs no more than for one. */
  async #renewDue(now: Moment): Promise<void> {
    const due: T[] = []
    for (const take of this.#takes) {
      const { standing } = take
      if (standing === undefined || !this.#isRenewed(standing)) continue
      if (elapsedSince(standing.triedAt, now) * 2 < standing.waitMs) continue
      standing.triedAt = now
      due.push(take)
    }
    for (let from = 0; from < due.length; from += SLICE) {
      if (from > 0) await new Promise(resolve => setTimeout(resolve, 0))
      if (this.#isStopped) return
      await this.#renew(due.slice(from, from + SLICE).filter(take => take.standing !== undefined))
    }
  }

  async #renew(takes: readonly T[]): Promise<void> {
    const { engine, onError } = this.#parts
    const sentAt = momentNow()
    let held: readonly Held[] = []
    try {
      held = await engine.renew(takes)
    } catch (error) {
      onError(error)
    }
    for (const [i, take] of takes.entries()) {
      const { standing } = take
      if (standing === undefined) continue
      if (held[i] === 'held') this.#renewed(take, standing, sentAt)
      else if (held[i] === 'lost' && standing.isJudged) void this.ask(take, standing)
      else standing.waitMs = this.#nextTryMs(take, standing)
    }
  }

  /** Time until a renewal that failed is tried again: the less is left of a running attempt's lease, the sooner. */
  #nextTryMs({ lease }: T, { state }: Standing): number {
    const { renewMs } = this.#parts
    const leftMs = state === 'running' ? lease.remaining() : 0
    return leftMs === 0 ? renewMs : Math.min(renewMs, Math.max(LEAST_WAIT_MS, leftMs / 2))
  }
}
