import type { Delivery } from '@ackhook/core'
import {
  type Attempt,
  type AttemptResult,
  createAttempt,
  describeError,
  type Held,
  LeasedAttempts,
  type LeaseEngine,
  LeaseTime,
  letterGroup,
  type Moment,
  type ProcessEvent,
  type ProcessingPolicy,
  RecordRetries,
  type Standing,
  stackOf,
  type Take,
} from '@ackhook/core/spi'
import type { Batcher } from './engine/batcher.ts'
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

/** A row that this process runs, or whose result it is recording. */
class HeldRow implements Take {
  readonly row: Lease
  readonly delivery: Delivery
  readonly attempt: Attempt
  /** Counts from the take of the row, or of its run's first one. */
  readonly lease: LeaseTime
  standing: Standing | undefined = undefined
  /** The run of its ordering key, if other rows waited behind it. */
  readonly run: KeyRun | undefined
  /** The row of its key that began when this one's handlers ended, and gets its lease with this one's result. */
  next: HeldRow | undefined = undefined
  /** Resolves to whether the row got its lease, with the result of the row before it. Unset once it has it. */
  leased: Promise<boolean> | undefined = undefined
  /** Resolves `leased` of the next row. */
  passLease: (isPassed: boolean) => void = NO_NEXT
  /** True once its result is in the file; false if another process has the row. */
  isRecorded: boolean | undefined = undefined
  /** True once the handlers have ended, or will not begin: the slot is free. */
  hasEnded = false

  constructor(row: Lease, delivery: Delivery, attempt: Attempt, lease: LeaseTime, run: KeyRun | undefined) {
    this.row = row
    this.delivery = delivery
    this.attempt = attempt
    this.lease = lease
    this.run = run
  }
}

function NO_NEXT(): void {}

/**
 * Steps 10 and 11 for rows of the file. Core decides when a handler begins and what becomes of it; this adds slots, runs of
 * an ordering key, and that a thread renews the leases: the file's own may hold longer than this thread knows.
 */
export class Attempts implements LeaseEngine<HeldRow> {
  readonly #parts: AttemptsParts
  readonly #attempts: LeasedAttempts<HeldRow>
  readonly #releases = new RecordRetries()
  /** Rows that are held, or are being given back. */
  #size = 0
  /** Number of held rows that occupy a slot: their handlers have not ended. */
  #active = 0
  #isDraining = false

  constructor(parts: AttemptsParts) {
    const { work, policy, leaseMs } = parts
    this.#parts = parts
    // What fails is observed here, or shows in the takes that fail with it.
    const onError = (): void => {}
    this.#attempts = new LeasedAttempts<HeldRow>({
      engine: this,
      work,
      policy,
      renewMs: leaseMs / 3,
      onError,
    })
  }

  /** Number of rows that are held, or are being given back. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of rows that may be taken in addition to those already `requested`. */
  freeSlots(requested: number): number {
    return this.#isDraining ? 0 : Math.max(0, this.#parts.policy.concurrency - this.#active - requested)
  }

  /** Runs a row. `arrived`: the delivery, if this process has just stored the row. */
  take(row: TakenRow, arrived: Delivery | undefined, sentAt: Moment): void {
    const { batcher, runs } = this.#parts
    const { seq, token, behind } = row
    const delivery = arrived ?? row.event
    if (this.#isDraining || delivery === undefined) {
      void this.#release({ seq, token }, false)
      return
    }
    const run = behind && runs.start(behind, batcher.unanswered())
    this.#begin({ seq, token }, delivery, createAttempt(row.attempt, row.decision, row.mark), sentAt, run)
  }

  /**
   * Takes nothing more, and waits for what runs. What has not ended then is withdrawn and given back. `lastMs`: time for
   * that after the deadline.
   */
  async drain(timeoutMs: number, lastMs: number): Promise<void> {
    this.#isDraining = true
    this.#releases.drain(timeoutMs + lastMs)
    await this.#attempts.drain(timeoutMs)
  }

  #begin(row: Lease, delivery: Delivery, attempt: Attempt, sentAt: Moment, run: KeyRun | undefined): HeldRow {
    const held = new HeldRow(row, delivery, attempt, new LeaseTime(this.#parts.leaseMs, sentAt), run)
    this.#size++
    this.#active++
    // Starts after the replies of this turn: work must not delay an acknowledgement.
    setImmediate(() => void this.#run(held))
    return held
  }

  async #run(held: HeldRow): Promise<void> {
    await this.#attempts.run(held)
    const { next, isRecorded } = held
    if (!held.hasEnded) {
      // Withdrawn by the clocks of this process, while the thread may renew the lease; or another process has the row.
      this.#end(held)
      void this.#release(held.row, true)
    }
    if (next !== undefined) {
      if (isRecorded) next.leased = undefined
      held.passLease(isRecorded === true)
      if (isRecorded === false) this.#attempts.lose(next)
    }
    this.#size--
    this.#parts.onEnd()
  }

  /**
   * Shows the thread that the application is alive, which then goes on renewing the leases, and renews them now. A row
   * without a lease yet has that of the row before it.
   */
  renew(rows: readonly HeldRow[]): Promise<readonly Held[]> {
    return Promise.all(rows.map(held => (held.leased === undefined ? this.#check(held.row) : 'unknown')))
  }

  #check(row: Lease): Promise<Held> {
    return this.#parts.batcher.check(row).then(isHeld => (isHeld ? 'held' : 'lost'), UNKNOWN)
  }

  async retake(held: HeldRow): Promise<Held> {
    if (held.leased !== undefined && !(await held.leased)) return 'unknown'
    const { batcher, leaseMs } = this.#parts
    return (await batcher.query({ kind: 'renew', lease: held.row, leaseMs })) ? 'held' : 'lost'
  }

  async record(held: HeldRow, result: AttemptResult, tries: number): Promise<boolean> {
    const { batcher, policy } = this.#parts
    if (tries === 0) this.#end(held, result)
    const settlement = settlementOf(held.row, result, policy, held.next?.row, held.delivery)
    try {
      held.isRecorded = await batcher.settle(settlement)
      // The row had no lease yet: tries again once it has.
      if (!held.isRecorded && held.leased !== undefined && (await held.leased))
        held.isRecorded = await batcher.settle(settlement)
      return held.isRecorded
    } catch (error) {
      policy.observe({ kind: 'store_down', operation: 'settle', error })
      throw error
    }
  }

  giveBack(held: HeldRow, begun: boolean): Promise<void> {
    this.#end(held)
    return this.#release(held.row, begun)
  }

  /** Frees the slot, and begins the key's next event: before this one's result is on disk. */
  #end(held: HeldRow, result?: AttemptResult): void {
    const { batcher, runs, policy } = this.#parts
    const { run } = held
    if (held.hasEnded) return
    held.hasEnded = true
    if (run !== undefined && result?.outcome === 'completed' && !this.#isDraining) this.#beginNext(held, run)
    else if (run !== undefined) runs.end(run)
    this.#active--
    // Other rows of its key may wait behind this one, or events of its group for this slot although others are free.
    const isAwaited = (run !== undefined && held.next === undefined) || policy.groups !== undefined
    if (isAwaited) batcher.flushNow()
    else batcher.flushSoon()
  }

  #beginNext(held: HeldRow, run: KeyRun): void {
    const row = this.#parts.runs.next(run)
    if (row === undefined) return
    const { seq, token, event, attempt } = row
    const next = this.#begin({ seq, token }, event, createAttempt(attempt), held.lease.sentAt, run)
    next.leased = new Promise(resolve => (held.passLease = resolve))
    held.next = next
  }

  /** Gives a row back. Tries again until its lease is over: from then on, it counts as the row of a crash. */
  async #release({ seq, token }: Lease, begun: boolean): Promise<void> {
    const { batcher, leaseMs, onEnd } = this.#parts
    const endsAt = performance.now() + leaseMs
    const release = { kind: 'release', seq, token, begun } as const
    this.#size++
    for (let failures = 1; ; failures++) {
      try {
        await batcher.settle(release)
        break
      } catch {
        // The takes and results that fail with it are observed.
        if (!(await this.#releases.next(failures, endsAt - performance.now()))) break
      }
    }
    this.#size--
    onEnd()
  }
}

function UNKNOWN(): Held {
  return 'unknown'
}

/** Limit for an error's text. A page of letters shows many. */
const MAX_REASON = 8192

/** Returns the change to the file for a result. `next`: the row that gets its lease with this result. */
function settlementOf(
  { seq, token }: Lease,
  result: AttemptResult,
  policy: ProcessingPolicy,
  next: Lease | undefined,
  { id, type }: Delivery,
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
