import {
  AckhookError,
  type Delivery,
  type DrainReport,
  type HandlingControl,
  type Inbox,
  type InboxStats,
  type PausedHandling,
} from '@ackhook/core'
import { redriveCommand, resumeCommand, shareHandlers } from '@ackhook/core/sharing'
import {
  ABORT,
  type AcceptResult,
  type Attempt,
  type AttemptResult,
  type BrowsedEvent,
  type BrowseQuery,
  createAttempt,
  type DeadLetterStore,
  eventRef,
  LeaseTime,
  type MinuteCount,
  type Moment,
  momentNow,
  PauseLog,
  type PresenceStore,
  type PresenceView,
  type ProcessEvent,
  type ProcessingPolicy,
  pausedType,
  RecordRetries,
  type RetryPolicy,
  settlesWithin,
} from '@ackhook/core/spi'
import { createDeadLetters } from './dead-letters.ts'
import { Batcher } from './engine/batcher.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local-engine.ts'
import { ThreadEngine } from './engine/thread-engine.ts'
import { type HeldRow, HeldRows } from './held-rows.ts'
import { type KeyRun, KeyRuns } from './key-runs.ts'
import { startLeaseCheck } from './lease-check.ts'
import { type ResolvedSqliteOptions, resolveSqliteOptions, type SqliteInboxOptions } from './options.ts'
import { BROWSING, browse } from './pages.ts'
import type { Lease, Settlement } from './protocol/batch.ts'
import type { TakenRow } from './protocol/batch-result.ts'
import { settlementOf } from './settlement-of.ts'
import { Turns } from './turns.ts'

/** 8 attempts: 5 s, 25 s, 2 min, 10 min, 52 min, 4 h and 12 h apart, less the random part: 9 to 17 h in all. */
const RETRY: RetryPolicy = { attempts: 8, minDelayMs: 5000, maxDelayMs: 43_200_000, factor: 5 }
const CAPACITY = 1_000_000
/** Number of pieces of operators' queries that may share one transaction, for which deliveries wait. */
const PIECES_AT_A_TIME = 4
/** Time that the last results of a closing inbox may take to reach the disk. */
const LAST_RESULTS_MS = 2000

/**
 * Creates an inbox in a file, for one machine: an event is acknowledged once it is committed and flushed to disk, and
 * the file remembers its id. Several processes on the machine may open the same file.
 *
 * Throws `ConfigurationError` for a wrong option; `start` rejects if the file cannot be used.
 *
 * @example
 * const hooks = webhooks({ secret: process.env['SIGNING_SECRET'], inbox: sqliteInbox('webhooks.db') })
 */
export function sqliteInbox(pathOrOptions: string | SqliteInboxOptions): Inbox {
  const inbox = new SqliteInbox(resolveSqliteOptions(pathOrOptions))
  return {
    durable: true,
    ...inbox.location,
    defaultRetry: RETRY,
    defaultCapacity: CAPACITY,
    start: (work, policy) => inbox.start(work, policy),
    accept: delivery => inbox.accept(delivery),
    close: timeoutMs => inbox.close(timeoutMs),
    stats: () => inbox.stats(),
    deadLetters: inbox.deadLetters,
    handling: inbox.handling,
    sharesSlots: true,
    forget: key => inbox.forget(key),
    browse: query => inbox.browse(query),
    browsing: BROWSING,
    throughput: () => inbox.throughput(),
    processes: async () => (await inbox.board.read()).processes,
  }
}

/** Parts that are known only once processing starts. */
interface Started {
  readonly work: ProcessEvent
  readonly policy: ProcessingPolicy
  readonly leaseCheck: { stop(): void }
}

class SqliteInbox {
  readonly deadLetters: DeadLetterStore
  readonly handling: HandlingControl
  /** Board on which the file's processes publish their handlers. */
  readonly board: PresenceStore
  readonly #options: ResolvedSqliteOptions
  readonly #engine: Engine
  readonly #batcher: Batcher
  /** Rows that run here, or whose result is being recorded. */
  readonly #held = new HeldRows()
  /** Number of held rows that occupy a slot: their handlers have not ended. */
  #active = 0
  readonly #runs = new KeyRuns()
  readonly #turns = new Turns(PIECES_AT_A_TIME)
  #started: Started | undefined
  #pauseLog: PauseLog | undefined
  /** As last read, also before the start. */
  #pauses: readonly PausedHandling[] = []
  #closing: Promise<DrainReport> | undefined
  readonly #recordRetries = new RecordRetries()
  #pollTimer: ReturnType<typeof setTimeout> | undefined
  /** Called once no row is held and no batch waits for the engine. */
  #onIdle: (() => void) | undefined
  /** Message of the error that failed the last take. */
  #outage: string | undefined

  constructor(options: ResolvedSqliteOptions) {
    const { source, create } = options
    this.#options = options
    this.#engine =
      'path' in source ? new ThreadEngine(source.path, create) : new LocalEngine(source.database, create)
    this.#batcher = new Batcher({
      engine: this.#engine,
      freeSlots: requested => this.#freeSlots(requested),
      readAhead: () => this.#runs.readAhead,
      onRow: (row, arrived, sentAt) => this.#take(row, arrived, sentAt),
      onTaken: error => this.#reportOutage(error),
      onAnswered: nextDueMs => this.#pollLater(nextDueMs),
      onPauses: paused => this.#seePauses(paused),
    })
    this.handling = {
      pause: type => this.#setPause('pause', type),
      resume: type => this.#setPause('resume', type),
      paused: () => this.#batcher.query({ kind: 'paused' }) as Promise<readonly PausedHandling[]>,
    }
    this.deadLetters = createDeadLetters({ batcher: this.#batcher, runs: this.#runs, turns: this.#turns })
    this.board = {
      publish: async own => void (await this.#batcher.query({ kind: 'publish', own })),
      read: () => this.#batcher.query({ kind: 'board' }) as Promise<PresenceView>,
    }
  }

  get location(): Pick<Inbox, 'location' | 'redriveCommand'> {
    const { source } = this.#options
    if (!('path' in source)) return {}
    return {
      location: `file ${source.path}`,
      redriveCommand: event => redriveCommand(['--sqlite', source.path], event),
    }
  }

  async start(work: ProcessEvent, policy: ProcessingPolicy): Promise<void> {
    if (this.#closing !== undefined) throw closedError()
    const { leaseMs } = this.#options
    const { minDelayMs, maxDelayMs, factor } = policy.retry
    const { capacity, concurrency, groups } = policy
    this.#engine.setPolicy({ capacity, leaseMs, minDelayMs, maxDelayMs, factor, concurrency, groups })
    await this.#engine.open()
    this.#reportUpgrade(policy)
    await shareHandlers(this.board, policy)
    // If closed meanwhile, nothing would stop the lease check.
    if (this.#closing !== undefined) throw closedError()
    const onLost = (held: HeldRow): void => this.#lose(held)
    const leaseCheck = startLeaseCheck({ held: this.#held, leaseMs, batcher: this.#batcher, onLost })
    this.#started = { work, policy, leaseCheck }
    this.#pauseLog = this.#createPauseLog(policy)
    this.#pauseLog.see(this.#pauses)
    this.#batcher.flushNow()
  }

  #seePauses(paused: readonly PausedHandling[]): void {
    this.#pauses = paused
    this.#pauseLog?.see(paused)
  }

  #createPauseLog({ logger, observe }: ProcessingPolicy): PauseLog {
    const { source } = this.#options
    if (!('path' in source)) return new PauseLog({ logger, observe })
    return new PauseLog({ logger, observe, resumeBy: type => resumeCommand(['--sqlite', source.path], type) })
  }

  #reportUpgrade({ logger }: ProcessingPolicy): void {
    const { upgrade } = this.#engine
    if (upgrade === undefined) return
    const { from, to, copy } = upgrade
    const kept =
      copy === undefined ? '' : ` The file as it was before is ${copy}: delete it once you need no way back.`
    logger.warn(
      { code: 'schema_upgraded', from, to, copy },
      `The tables of the inbox were upgraded from schema ${from} to ${to}: an earlier release of @ackhook/sqlite cannot open them any more.${kept}`,
    )
  }

  accept(delivery: Delivery): Promise<AcceptResult> {
    if (this.#closing !== undefined) return Promise.resolve(CLOSED)
    if (delivery.order !== undefined) this.#runs.giveWayTo(delivery.order)
    return this.#batcher.accept(delivery)
  }

  /** Returns the number of rows that may be taken in addition to those already `requested`. */
  #freeSlots(requested: number): number {
    if (this.#started === undefined || this.#closing !== undefined) return 0
    return this.#started.policy.concurrency - this.#active - requested
  }

  /** `arrived`: the delivery, if this process has just stored the row. */
  #take(row: TakenRow, arrived: Delivery | undefined, sentAt: Moment): void {
    const delivery = arrived ?? row.event
    if (this.#started === undefined || this.#closing !== undefined || delivery === undefined) {
      void this.#release(row, { begun: false })
      return
    }
    const { behind } = row
    const run = behind && this.#runs.start(behind, this.#batcher.ordersUnderWay())
    this.#begin(row, delivery, createAttempt(row.attempt, row.decision, row.mark), sentAt, run)
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
      before: undefined,
      after: undefined,
      recorded: undefined,
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
    // A handler begins only under a lease that is known to hold: after a stall, it is renewed first.
    if (this.#isPastHalf(held.sentAt) && !(await this.#renewed(held))) {
      if (held.run !== undefined) this.#runs.end(held.run)
      return
    }
    held.hasBegun = true
    const result = await this.#running().work(held.delivery, held.attempt)
    // Lost, or released by the drain.
    if (!this.#held.has(held)) {
      if (held.run !== undefined) this.#runs.end(held.run)
      return
    }
    if (held.run !== undefined) this.#continueRun(held, held.run, result)
    this.#freeSlot(held)
    held.recorded = this.#settle(held, result)
    const isRecorded = await held.recorded
    if (isRecorded && held.after !== undefined) held.after.before = undefined
    held.after = undefined
    this.#held.remove(held)
    this.#checkIdle()
  }

  /** Returns whether the lease was renewed. Otherwise the row is lost, or given back as it was. */
  async #renewed(held: HeldRow): Promise<boolean> {
    // The row gets its lease with the previous row's result.
    await held.before?.recorded
    const sentAt = momentNow()
    const query = { kind: 'renew', lease: held.row, leaseMs: this.#options.leaseMs } as const
    const isHeld = await this.#batcher.query(query).catch(() => undefined)
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
    return new LeaseTime(this.#options.leaseMs, sentAt).isPastHalf()
  }

  /** Begins the key's next event before this one's result is on disk. The next event gets its lease with that result. */
  #continueRun(held: HeldRow, run: KeyRun, { outcome }: AttemptResult): void {
    const mayGoOn = outcome === 'completed' && this.#closing === undefined
    const next = mayGoOn ? this.#runs.next(run) : undefined
    if (next === undefined) {
      this.#runs.end(run)
      // Other rows may wait behind this one.
      this.#batcher.flushNow()
      return
    }
    held.after = this.#begin(next, next.event, createAttempt(next.attempt), held.sentAt, run)
    held.after.before = held
  }

  #freeSlot(held: HeldRow): void {
    if (held.hasEnded) return
    held.hasEnded = true
    this.#active--
    // Events of its group may wait for this slot although others are free.
    if (this.#started?.policy.groups === undefined) this.#batcher.flushSoon()
    else this.#batcher.flushNow()
  }

  /**
   * Records a result, and tries again while the file cannot be written, until the drain's deadline. Returns whether it
   * was recorded. Otherwise the row is lost, or left until its lease expires.
   */
  async #settle(held: HeldRow, result: AttemptResult): Promise<boolean> {
    const { policy } = this.#running()
    const settlement = settlementOf(held.row, result, policy, held.after?.row)
    for (let failures = 1; this.#held.has(held); failures++) {
      const { before } = held
      try {
        if (await this.#batcher.settle(settlement)) return true
        // The row has no lease before the previous row's result is recorded: tries again after that.
        if (before !== undefined && (await before.recorded)) continue
        this.#lose(held)
        return false
      } catch (error) {
        policy.observe({ kind: 'store_down', operation: 'settle', error })
        // The row gets its lease with the previous row's result, which is tried again too.
        const mayBeLeased = before !== undefined && (await before.recorded)
        if (!mayBeLeased && !(await this.#recordRetries.next(failures))) {
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
    this.#running().policy.observe({ kind: 'lease_lost', ...eventRef(held.delivery) })
    held.attempt.abort(ABORT.leaseLost())
    this.#freeSlot(held)
    // The next row would have got its lease with this one's result.
    if (held.after !== undefined) this.#lose(held.after)
    this.#checkIdle()
  }

  /** Gives a row back. Tries once: if that fails, the lease expires. */
  async #release({ seq, token }: Lease, { begun }: { readonly begun: boolean }): Promise<void> {
    const settlement: Settlement = { kind: 'release', seq, token, begun }
    await this.#batcher.settle(settlement).catch(() => false)
    this.#checkIdle()
  }

  /** Observes each outage once, not at every poll: if no event arrives, nothing else shows it. */
  #reportOutage(error?: Error): void {
    if (error !== undefined && error.message !== this.#outage) {
      this.#started?.policy.observe({ kind: 'store_down', operation: 'take', error })
    }
    this.#outage = error?.message
  }

  /** Takes rows again when the next one is due, and at least once per poll interval, for events of other processes. */
  #pollLater(nextDueMs: number | undefined): void {
    clearTimeout(this.#pollTimer)
    if (this.#closing !== undefined || !this.#started?.policy.concurrency) {
      this.#checkIdle()
      return
    }
    const { pollMs } = this.#options
    this.#pollTimer = setTimeout(() => this.#batcher.flushNow(), Math.min(pollMs, nextDueMs ?? pollMs))
  }

  close(timeoutMs: number): Promise<DrainReport> {
    this.#closing ??= this.#close(timeoutMs)
    return this.#closing
  }

  async #close(timeoutMs: number): Promise<DrainReport> {
    clearTimeout(this.#pollTimer)
    this.#recordRetries.drain(timeoutMs)
    await this.#idleWithin(timeoutMs)
    this.#giveBack()
    await this.#idleWithin(LAST_RESULTS_MS)
    this.#started?.leaseCheck.stop()
    await this.#engine.close()
    // Every accepted event is in the file.
    return { lost: 0 }
  }

  #giveBack(): void {
    for (const held of this.#held.all()) {
      // Leaves rows whose handlers have ended: the last try to record their results is under way.
      if (held.hasEnded) continue
      this.#held.remove(held)
      held.attempt.abort(ABORT.drained())
      void this.#release(held.row, { begun: held.hasBegun })
    }
  }

  async #idleWithin(timeoutMs: number): Promise<void> {
    if (this.#isIdle) return
    const idle = new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
    this.#batcher.flushNow()
    await settlesWithin(idle, timeoutMs)
  }

  #checkIdle(): void {
    if (this.#isIdle) this.#onIdle?.()
  }

  get #isIdle(): boolean {
    return this.#held.size === 0 && !this.#batcher.isBusy
  }

  async #setPause(kind: 'pause' | 'resume', type: string | undefined): Promise<boolean> {
    const hasChanged = (await this.#batcher.query({ kind, type: pausedType(type) })) as boolean
    // Tells it, and takes what may go on.
    if (this.#started !== undefined) this.#batcher.flushNow()
    return hasChanged
  }

  stats(): Promise<InboxStats> {
    return this.#batcher.query({ kind: 'stats' }) as Promise<InboxStats>
  }

  forget(key: string): Promise<boolean> {
    return this.#batcher.query({ kind: 'forget', key: String(key) }) as Promise<boolean>
  }

  browse(query: BrowseQuery): Promise<readonly BrowsedEvent[]> {
    return browse(this.#batcher, this.#turns, query)
  }

  throughput(): Promise<readonly MinuteCount[]> {
    return this.#batcher.query({ kind: 'throughput' }) as Promise<readonly MinuteCount[]>
  }

  #running(): Started {
    if (this.#started === undefined) throw new Error('start() must come before the first event')
    return this.#started
  }
}

const CLOSED: AcceptResult = { outcome: 'unavailable', code: 'inbox_unavailable', cause: closedError() }

function closedError(): AckhookError {
  return new AckhookError('inbox_unavailable', 'The inbox is closed: create another one with sqliteInbox().')
}
