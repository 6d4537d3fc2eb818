import type { Delivery, PausedHandling } from '@ackhook/core'
import {
  ACCEPT_RESULTS,
  type AcceptResult,
  MAX_LOOKUPS_WHEN_FULL,
  type Moment,
  momentNow,
  type StoreNotice,
} from '@ackhook/core/spi'
import type { Lease, Query, Settlement, TakeLimits } from '../protocol/batch.ts'
import type { BatchResult, TakenRow } from '../protocol/batch-result.ts'
import { isFault } from '../protocol/fault.ts'
import { answer, answerFailed } from './answers.ts'
import { DeadlineWatch, tooSlow } from './deadline-watch.ts'
import type { Engine } from './engine.ts'
import { InFlight } from './in-flight.ts'
import { emptyBatch, enqueue, type PendingBatch } from './pending-batch.ts'

export interface BatcherParts {
  readonly engine: Engine
  /** Returns what may be taken now, in addition to the rows already `requested`. */
  readonly limits: (requested: number) => TakeLimits
  /**
   * Called for each row taken. `delivery` is set if the row has just arrived here; `sentAt` is the time at which the
   * take was sent, from which its lease counts.
   */
  readonly onRow: (row: TakenRow, delivery: Delivery | undefined, sentAt: Moment) => void
  /** Called after every batch that requested rows. `error`: reason why taking failed, unless a sender receives it. */
  readonly onTaken: (error?: Error) => void
  /** Called after every batch. `nextDueMs`: time until the next row is due, if known. */
  readonly onAnswered: (nextDueMs: number | undefined) => void
  /** Called with the pauses in force, when they have changed. */
  readonly onPauses: (paused: readonly PausedHandling[]) => void
  /** Called with what an operator should know. */
  readonly onNotices: (notices: readonly StoreNotice[]) => void
}

/** Delay of a settlement that waits to share its disk write with an arrival, while no waiting row needs its slot. */
const LAZY_MS = 3
/** A crash repeats every event whose result is unrecorded, so few results may wait. */
const LAZY_LIMIT = 8

/** Gathers the storage requests of one event-loop turn into one batch. */
export class Batcher {
  readonly #parts: BatcherParts
  readonly #inFlight = new InFlight()
  readonly #deadlines = new DeadlineWatch()
  #next = emptyBatch()
  /** True if `#next` is sent at the end of this turn. */
  #isScheduled = false
  #lazyTimer: ReturnType<typeof setTimeout> | undefined
  /** Batches without a result. */
  readonly #sent: PendingBatch[] = []
  /** Number of rows that those batches request. */
  #requested = 0
  /** Number of deliveries without a result. */
  #unanswered = 0
  /** True if the last result left rows that are due. */
  #hasBacklog = true
  /** True if the last completed batch of deliveries found the inbox full. */
  #wasFull = false

  constructor(parts: BatcherParts) {
    this.#parts = parts
  }

  accept(delivery: Delivery): Promise<AcceptResult> {
    if (this.#deadlines.isOverdue) return Promise.resolve(tooSlow())
    if (this.#wasFull && this.#unanswered >= MAX_LOOKUPS_WHEN_FULL)
      return Promise.resolve(ACCEPT_RESULTS.full)
    this.#unanswered++
    this.flushNow()
    return enqueue(this.#next.arrivals, delivery)
  }

  /** Resolves to whether the lease still held. Rejects if nothing was recorded. */
  settle(settlement: Settlement): Promise<boolean> {
    this.flushSoon()
    return enqueue(this.#next.settlements, settlement)
  }

  /** Resolves to whether the lease still holds and is renewed from now on. Rejects if that is unknown. */
  check(lease: Lease): Promise<boolean> {
    this.flushNow()
    return enqueue(this.#next.checks, lease)
  }

  query(query: Query): Promise<unknown> {
    this.flushNow()
    return enqueue(this.#next.queries, query)
  }

  /** Runs a query with what is sent next: nothing waits for it. */
  queryLater(query: Query): Promise<unknown> {
    this.flushSoon()
    return enqueue(this.#next.queries, query)
  }

  /** Sends the batch at the end of this turn, without waiting for a timer. Takes rows too. */
  flushNow(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    clearTimeout(this.#lazyTimer)
    this.#lazyTimer = undefined
    setImmediate(() => {
      this.#isScheduled = false
      const batch = this.#next
      this.#next = emptyBatch()
      void this.#send(batch)
    })
  }

  /** Sends the batch with the next arrival, or a little later: results must not delay a sender. */
  flushSoon(): void {
    if (this.#hasBacklog || this.#next.settlements.length >= LAZY_LIMIT) this.flushNow()
    else if (!this.#isScheduled) this.#lazyTimer ??= setTimeout(() => this.flushNow(), LAZY_MS)
  }

  /** True if a batch is scheduled, or sent and without a result. */
  get isBusy(): boolean {
    return this.#isScheduled || this.#lazyTimer !== undefined || this.#sent.length > 0
  }

  /** Returns the deliveries without a result. */
  unanswered(): readonly Delivery[] {
    return [...this.#sent, this.#next].flatMap(({ arrivals }) => arrivals.map(toValue))
  }

  async #send(batch: PendingBatch): Promise<void> {
    const { engine, limits, onTaken, onAnswered } = this.#parts
    const deliveries = batch.arrivals.map(toValue)
    const firstRef = this.#inFlight.add(deliveries)
    const limit = limits(this.#requested)
    const { take } = limit
    this.#requested += take
    this.#sent.push(batch)
    const endWatch = this.#deadlines.start(batch)
    let nextDueMs: number | undefined
    const sentAt = momentNow()
    try {
      const result = await engine.run({
        arrivals: deliveries,
        firstRef,
        settlements: batch.settlements.map(toValue),
        checks: batch.checks.map(toValue),
        queries: batch.queries.map(toValue),
        ...limit,
      })
      nextDueMs = result.nextDueMs
      this.#receive(batch, result, sentAt)
      if (take > 0) this.#finishTake(batch, result.taken, take)
    } catch (error) {
      answerFailed(batch, error)
      if (take > 0 && batch.arrivals.length === 0) onTaken(error as Error)
    } finally {
      endWatch()
      this.#requested -= take
      this.#sent.splice(this.#sent.indexOf(batch), 1)
      this.#unanswered -= batch.arrivals.length
    }
    onAnswered(nextDueMs)
    // Waits for the next turn: results received together with this one may take rows that this batch stored.
    setImmediate(() => this.#inFlight.remove(firstRef))
  }

  #receive(batch: PendingBatch, result: BatchResult, sentAt: Moment): void {
    const { admissions, taken, paused, notices } = result
    if (paused !== undefined) this.#parts.onPauses(paused)
    if (notices !== undefined) this.#parts.onNotices(notices)
    if (batch.arrivals.length > 0 && !isFault(admissions)) this.#wasFull = admissions.includes('full')
    answer(batch, result, fault => this.#parts.engine.toError(fault))
    if (isFault(taken)) return
    for (const row of taken) {
      this.#parts.onRow(row, row.ref === undefined ? undefined : this.#inFlight.get(row.ref), sentAt)
    }
  }

  #finishTake(batch: PendingBatch, taken: BatchResult['taken'], take: number): void {
    const { engine, onTaken } = this.#parts
    if (!isFault(taken)) {
      this.#hasBacklog = taken.length === take
      onTaken()
      return
    }
    this.#hasBacklog = false
    if (batch.arrivals.length === 0) onTaken(engine.toError(taken))
  }
}

function toValue<T>({ value }: { readonly value: T }): T {
  return value
}
