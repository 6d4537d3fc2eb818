import { existsSync } from 'node:fs'
import {
  AckhookError,
  type Delivery,
  type DrainReport,
  type HandlingControl,
  type Inbox,
  type InboxStats,
  type PausedHandling,
} from '@ackhook/core'
import { dropOldLetters, redriveCommand, resumeCommand, shareHandlers } from '@ackhook/core/sharing'
import {
  type AcceptResult,
  type ActivityQuery,
  type ActivitySlot,
  type BrowsedEvent,
  type BrowseQuery,
  type DeadLetterStore,
  type Erasure,
  type EventLookup,
  type MinuteCount,
  PauseLog,
  type PresenceStore,
  type PresenceView,
  type ProcessEvent,
  type ProcessingPolicy,
  pausedType,
  type RetryPolicy,
  type StoreNotice,
  settlesWithin,
} from '@ackhook/core/spi'
import { Attempts } from './attempts.ts'
import { createDeadLetters } from './dead-letters.ts'
import { Batcher } from './engine/batcher.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local-engine.ts'
import { ThreadEngine } from './engine/thread-engine.ts'
import { createErasure } from './erasure.ts'
import { KeyRuns } from './key-runs.ts'
import { type ResolvedSqliteOptions, resolveSqliteOptions, type SqliteInboxOptions } from './options.ts'
import { BROWSING, browse } from './pages.ts'
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
  const options = resolveSqliteOptions(pathOrOptions)
  const inbox = new SqliteInbox(options)
  return {
    durable: true,
    ...inbox.location,
    defaultRetry: RETRY,
    defaultCapacity: CAPACITY,
    start: (work, policy) => inbox.start(work, policy),
    accept: delivery => inbox.accept(delivery),
    close: timeoutMs => inbox.close(timeoutMs),
    stats: () => inbox.stats(),
    statsBeforeStart: () => statsOnce(options, inbox),
    deadLetters: inbox.deadLetters,
    handling: inbox.handling,
    sharesSlots: true,
    forget: key => inbox.forget(key),
    lookup: key => inbox.lookup(key),
    browse: query => inbox.browse(query),
    browsing: BROWSING,
    erasure: inbox.erasure,
    throughput: () => inbox.throughput(),
    activity: { read: query => inbox.readActivity(query) },
    processes: async () => (await inbox.board.read()).processes,
  }
}

/** Counts in a thread that ends afterward: one that stays would keep the process alive. */
async function statsOnce(options: ResolvedSqliteOptions, inbox: SqliteInbox): Promise<InboxStats> {
  const { source } = options
  if (!('path' in source)) return inbox.stats()
  if (!existsSync(source.path)) return { pending: 0, active: 0, dead: 0, oldestPendingMs: 0 }
  const reader = new SqliteInbox({ ...options, create: false })
  try {
    return await reader.stats()
  } finally {
    await reader.close(0)
  }
}

/** Parts that are known only once processing starts. */
interface Started {
  readonly policy: ProcessingPolicy
  readonly attempts: Attempts
}

class SqliteInbox {
  readonly deadLetters: DeadLetterStore
  readonly handling: HandlingControl
  readonly erasure: Erasure
  /** Board on which the file's processes publish their handlers. */
  readonly board: PresenceStore
  readonly #options: ResolvedSqliteOptions
  readonly #engine: Engine
  readonly #batcher: Batcher
  readonly #runs = new KeyRuns()
  readonly #turns = new Turns(PIECES_AT_A_TIME)
  #started: Started | undefined
  /** Set at the start, before the first result. */
  #policy: ProcessingPolicy | undefined
  #pauseLog: PauseLog | undefined
  /** As last read, also before the start. */
  #pauses: readonly PausedHandling[] = []
  #stopDropping = (): void => {}
  #closing: Promise<DrainReport> | undefined
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
      limits: requested => ({
        take: this.#started?.attempts.freeSlots(requested) ?? 0,
        readAhead: this.#runs.readAhead,
      }),
      onRow: (row, arrived, sentAt) => this.#started?.attempts.take(row, arrived, sentAt),
      onTaken: error => this.#reportOutage(error),
      onAnswered: nextDueMs => this.#pollLater(nextDueMs),
      onPauses: paused => this.#seePauses(paused),
      onNotices: notices => this.#tellNotices(notices),
    })
    this.handling = {
      pause: type => this.#setPause('pause', type),
      resume: type => this.#setPause('resume', type),
      paused: () => this.#batcher.query({ kind: 'paused' }) as Promise<readonly PausedHandling[]>,
    }
    this.deadLetters = createDeadLetters({ batcher: this.#batcher, runs: this.#runs, turns: this.#turns })
    this.erasure = createErasure(this.#batcher, this.#turns)
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
    this.#policy = policy
    const { leaseMs } = this.#options
    const { minDelayMs, maxDelayMs, factor } = policy.retry
    const { capacity, concurrency, groups } = policy
    this.#engine.setPolicy({ capacity, leaseMs, minDelayMs, maxDelayMs, factor, concurrency, groups })
    this.#engine.onNotice(({ level, code, message, events }) =>
      policy.logger[level](events === undefined ? { code } : { code, events }, message),
    )
    await this.#engine.open()
    await shareHandlers(this.board, policy)
    // If closed meanwhile, nothing would stop the checks of leases.
    if (this.#closing !== undefined) throw closedError()
    const [batcher, runs] = [this.#batcher, this.#runs]
    const onEnd = (): void => this.#checkIdle()
    this.#started = { policy, attempts: new Attempts({ batcher, runs, leaseMs, work, policy, onEnd }) }
    this.#pauseLog = this.#createPauseLog(policy)
    this.#pauseLog.see(this.#pauses)
    this.#stopDropping = dropOldLetters(this.deadLetters, policy)
    this.#batcher.flushNow()
    policy.activity?.begin(slots => batcher.queryLater({ kind: 'add-activity', slots }))
  }

  #seePauses(paused: readonly PausedHandling[]): void {
    this.#pauses = paused
    this.#pauseLog?.see(paused)
  }

  #tellNotices(notices: readonly StoreNotice[]): void {
    for (const notice of notices) {
      this.#policy?.observe({ kind: 'notice', ...notice })
      this.#policy?.logger.warn({ code: notice.code }, notice.message)
    }
  }

  #createPauseLog({ logger, observe }: ProcessingPolicy): PauseLog {
    const { source } = this.#options
    if (!('path' in source)) return new PauseLog({ logger, observe })
    return new PauseLog({ logger, observe, resumeBy: type => resumeCommand(['--sqlite', source.path], type) })
  }

  accept(delivery: Delivery): Promise<AcceptResult> {
    if (this.#closing !== undefined) return Promise.resolve(CLOSED)
    this.#runs.giveWayTo(delivery)
    return this.#batcher.accept(delivery)
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
    this.#stopDropping()
    await Promise.all([
      this.#started?.attempts.drain(timeoutMs, LAST_RESULTS_MS),
      this.#idleWithin(timeoutMs),
    ])
    await settlesWithin(this.#started?.policy.activity?.end() ?? Promise.resolve(), LAST_RESULTS_MS)
    await this.#idleWithin(LAST_RESULTS_MS)
    await this.#engine.close()
    // Every accepted event is in the file.
    return { lost: 0 }
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
    return !this.#started?.attempts.size && !this.#batcher.isBusy
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

  lookup(key: string): Promise<EventLookup> {
    return this.#batcher.query({ kind: 'lookup', key: String(key) }) as Promise<EventLookup>
  }

  browse(query: BrowseQuery): Promise<readonly BrowsedEvent[]> {
    return browse(this.#batcher, this.#turns, query)
  }

  readActivity(query: ActivityQuery): Promise<readonly ActivitySlot[]> {
    return this.#batcher.query({ kind: 'activity', query }) as Promise<readonly ActivitySlot[]>
  }

  throughput(): Promise<readonly MinuteCount[]> {
    return this.#batcher.query({ kind: 'throughput' }) as Promise<readonly MinuteCount[]>
  }
}

const CLOSED: AcceptResult = { outcome: 'unavailable', code: 'inbox_unavailable', cause: closedError() }

function closedError(): AckhookError {
  return new AckhookError('inbox_unavailable', 'The inbox is closed: create another one with sqliteInbox().')
}
