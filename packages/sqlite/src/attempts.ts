import type { Delivery } from '@ackhook/core'
import {
  ABORT,
  type Attempt,
  type AttemptResult,
  createAttempt,
  describeError,
  eventRef,
  LeaseTime,
  letterGroup,
  type Moment,
  momentNow,
  type ProcessEvent,
  type ProcessingPolicy,
  RecordRetries,
  stackOf,
} from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
import { type HeldRow, HeldRows } from './held-rows.ts'
import type { KeyRun, KeyRuns } from './key-runs.ts'
import type { Lease, Settlement } from './protocol/batch.ts'
import type { TakenRow } from './protocol/batch-result.ts'

export interface AttemptsParts {
  readonly batcher: Batcher
  readonly runs: KeyRuns
  readonly leaseMs: number
  readonly work: ProcessEvent
  readonly policy: ProcessingPolicy
  /** Called when a row is no longer held. */
  readonly onEnd: () => void
}

/** Steps 10 and 11: runs taken rows, each under its lease, and records their results. */
export class Attempts {
  readonly #parts: AttemptsParts
  /** Rows that run here, or whose result is being recorded. */
  readonly #held = new HeldRows()
  /** Number of held rows that occupy a slot: their handlers have not ended. */
  #active = 0
  readonly #recordRetries = new RecordRetries()
  readonly #releaseRetries = new RecordRetries()
  /** Number of rows that are being given back. */
  #releasing = 0
  readonly #leaseCheck: ReturnType<typeof setInterval>
  #isDraining = false

  constructor(parts: AttemptsParts) {
    this.#parts = parts
    this.#leaseCheck = setInterval(() => this.#checkLeases(), parts.leaseMs / 3)
  }

  /** Number of rows that are held, or are being given back. */
  get size(): number {
    return this.#held.size + this.#releasing
  }

  /** Returns the number of rows that may be taken in addition to those already `requested`. */
  freeSlots(requested: number): number {
    return this.#isDraining ? 0 : Math.max(0, this.#parts.policy.concurrency - this.#active - requested)
  }

  /** Runs a row. `arrived`: the delivery, if this process has just stored the row. */
  take(row: TakenRow, arrived: Delivery | undefined, sentAt: Moment): void {
    const { batcher, runs } = this.#parts
    const { behind } = row
    const delivery = arrived ?? row.event
    if (this.#isDraining || delivery === undefined) {
      void this.#release(row, { begun: false })
      return
    }
    const run = behind && runs.start(behind, batcher.unanswered())
    this.#begin(row, delivery, createAttempt(row.attempt, row.decision, row.mark), sentAt, run)
  }

  /** Takes nothing more, and tries to record results for as long as the drain lasts. */
  drain(timeoutMs: number): void {
    this.#isDraining = true
    this.#recordRetries.drain(timeoutMs)
  }

  /**
   * Gives back the rows whose handlers have not ended, and tries that for `timeoutMs`. For the others, the last try to
   * record is under way.
   */
  giveBack(timeoutMs: number): void {
    this.#releaseRetries.drain(timeoutMs)
    for (const held of this.#held.all()) {
      if (held.hasEnded) continue
      this.#held.remove(held)
      held.attempt.abort(ABORT.drained())
      void this.#release(held.row, { begun: held.hasBegun })
    }
  }

  /** Checks no lease any more. */
  stop(): void {
    clearInterval(this.#leaseCheck)
  }

  #begin(
    { seq, token }: Lease,
    delivery: HeldRow['delivery'],
    attempt: Attempt,
    sentAt: Moment,
    run: KeyRun | undefined,
  ): HeldRow {
    const held: HeldRow = {
      row: { seq, token },
      delivery,
      attempt,
      sentAt,
      run,
      leased: undefined,
      hasBegun: false,
      hasEnded: false,
      place: -1,
    }
    this.#held.add(held)
    this.#active++
    // Starts after the replies of this turn: work must not delay an acknowledgement.
    setImmediate(() => void this.#run(held))
    return held
  }

  async #run(held: HeldRow): Promise<void> {
    const { runs, work, onEnd } = this.#parts
    const { run } = held
    // A handler begins only under a lease that is known to hold: after a stall, it is renewed first.
    const mayBegin = !this.#isPastHalf(held.sentAt) || (await this.#renewed(held))
    held.hasBegun = mayBegin
    const result = mayBegin ? await work(held.delivery, held.attempt) : undefined
    // Lost, or released by the drain.
    if (result === undefined || !this.#held.has(held)) {
      if (run !== undefined) runs.end(run)
      return
    }
    const next = run && this.#beginNext(held, run, result)
    this.#freeSlot(held)
    const recorded = this.#record(held, result, next?.row)
    if (next === undefined) await recorded
    else await this.#passLease(held, recorded, next)
    this.#held.remove(held)
    onEnd()
  }

  /** Returns whether the lease was renewed. Otherwise the row is lost, or given back as it was. */
  async #renewed(held: HeldRow): Promise<boolean> {
    const { batcher, leaseMs } = this.#parts
    await held.leased
    const sentAt = momentNow()
    const query = { kind: 'renew', lease: held.row, leaseMs } as const
    const isHeld = await batcher.query(query).catch(() => undefined)
    // Given back by the drain meanwhile.
    if (!this.#held.has(held)) return false
    if (isHeld === true && !this.#isPastHalf(sentAt)) return true
    if (isHeld === false) this.#lose(held)
    else {
      this.#held.remove(held)
      this.#freeSlot(held)
      void this.#release(held.row, { begun: false })
    }
    return false
  }

  #isPastHalf(sentAt: Moment): boolean {
    return new LeaseTime(this.#parts.leaseMs, sentAt).isPastHalf()
  }

  /** Begins the key's next event before this one's result is on disk. */
  #beginNext(held: HeldRow, run: KeyRun, { outcome }: AttemptResult): HeldRow | undefined {
    const { batcher, runs } = this.#parts
    const next = outcome === 'completed' && !this.#isDraining ? runs.next(run) : undefined
    if (next !== undefined)
      return this.#begin(next, next.event, createAttempt(next.attempt), held.sentAt, run)
    runs.end(run)
    // Other rows may wait behind this one.
    batcher.flushNow()
    return undefined
  }

  /** The next row gets its lease with this row's result, and is lost with this row. */
  async #passLease(held: HeldRow, recorded: Promise<boolean>, next: HeldRow): Promise<void> {
    next.leased = recorded
    if (await recorded) next.leased = undefined
    else if (!this.#held.has(held)) this.#lose(next)
  }

  #freeSlot(held: HeldRow): void {
    const { batcher, policy } = this.#parts
    if (held.hasEnded) return
    held.hasEnded = true
    this.#active--
    // Events of its group may wait for this slot although others are free.
    if (policy.groups === undefined) batcher.flushSoon()
    else batcher.flushNow()
  }

  /**
   * Records a result, and tries again while the file cannot be written, until the drain's deadline. Returns whether it
   * was recorded. Otherwise the row is lost, or left until its lease expires.
   */
  async #record(held: HeldRow, result: AttemptResult, next: Lease | undefined): Promise<boolean> {
    const { batcher, policy } = this.#parts
    const settlement = settlementOf(held.row, result, policy, next, held.delivery)
    for (let failures = 1; this.#held.has(held); failures++) {
      const { leased } = held
      try {
        if (await batcher.settle(settlement)) return true
        // The row had no lease yet: tries again once it has.
        if (leased !== undefined && (await leased)) continue
        this.#lose(held)
        return false
      } catch (error) {
        policy.observe({ kind: 'store_down', operation: 'settle', error })
        // The result that leases the row is tried again too.
        const isLeased = leased !== undefined && (await leased)
        if (!isLeased && !(await this.#recordRetries.next(failures))) {
          const kind = settlement.kind === 'complete' ? 'completion_lost' : 'failure_lost'
          policy.observe({ kind, ...eventRef(held.delivery), error })
          return false
        }
      }
    }
    return false
  }

  /** Gives up an event that another process has taken: its result here no longer counts. */
  #lose(held: HeldRow): void {
    if (!this.#held.remove(held)) return
    this.#parts.policy.observe({ kind: 'lease_lost', ...eventRef(held.delivery) })
    held.attempt.abort(ABORT.leaseLost())
    this.#freeSlot(held)
    this.#parts.onEnd()
  }

  /** Gives a row back. Tries again until its lease is over: from then on, it counts as the row of a crash. */
  async #release({ seq, token }: Lease, { begun }: { readonly begun: boolean }): Promise<void> {
    const { batcher, leaseMs, onEnd } = this.#parts
    const endsAt = performance.now() + leaseMs
    const release = { kind: 'release', seq, token, begun } as const
    this.#releasing++
    for (let failures = 1; ; failures++) {
      try {
        await batcher.settle(release)
        break
      } catch {
        // The takes and results that fail with it are observed.
        if (!(await this.#releaseRetries.next(failures, endsAt - performance.now()))) break
      }
    }
    this.#releasing--
    onEnd()
  }

  /**
   * Checks every held row that has a lease, three times per lease. The engine renews the leases itself; a check shows it
   * that the application is alive.
   */
  #checkLeases(): void {
    for (const held of this.#held.all()) if (held.leased === undefined) void this.#checkLease(held)
  }

  async #checkLease(held: HeldRow): Promise<void> {
    try {
      const isHeld = await this.#parts.batcher.check(held.row)
      // A row that has just been settled is no longer leased, and not lost either.
      if (!isHeld && !held.hasEnded) this.#lose(held)
    } catch {
      // The next check shows whether another process has taken the row.
    }
  }
}

/** Limit for an error's text. A page of letters shows many. */
const MAX_REASON = 8192

/** Returns the change to the file for a result. `next`: the row that gets its lease with this result. */
function settlementOf(
  { seq, token }: Lease,
  result: AttemptResult,
  policy: ProcessingPolicy,
  next: Lease | undefined,
  { id, type }: HeldRow['delivery'],
): Settlement {
  // Whole literals, no spreads. perf: note 7.
  switch (result.outcome) {
    case 'completed': {
      const forgetAt = Math.round(Date.now() + policy.retentionMs)
      if (next === undefined) return { kind: 'complete', seq, token, forgetAt }
      return { kind: 'complete', seq, token, forgetAt, next }
    }
    case 'retry': {
      const reason = reasonOf(result.error)
      return { kind: 'retry', seq, token, delayMs: Math.round(result.delayMs), reason }
    }
    case 'postponed':
      return { kind: 'postpone', seq, token, delayMs: Math.round(result.delayMs), mark: result.routingToken }
    case 'dead': {
      const reason = reasonOf(result.error)
      const mark = result.routingToken ?? null
      const group = letterGroup({ id, type, reason })
      const stack = stackOf(result.error) ?? null
      return { kind: 'dead-letter', seq, token, reason, mark, group, stack }
    }
  }
}

function reasonOf(error: unknown): string {
  const reason = describeError(error)
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON - 1)}…` : reason
}
