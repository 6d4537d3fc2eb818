import { AckhookError, ConfigurationError } from '@ackhook/core'
import { earlierVersion, type StoreNotice } from '@ackhook/core/spi'
import {
  createPostgresBackend,
  isPgPool,
  type PostgresConnectionOptions,
  type QueueOptions,
  withBackend,
} from 'bullmq'
import { limitBlocking, postgresBackend } from '../engine/bullmq-internals.ts'
import { clockNotice } from '../engine/clock-notice.ts'
import {
  type Bite,
  type Engine,
  type EngineSettings,
  type KnownJob,
  MAX_AGE_MS,
  type PreparePolicy,
  type QueueCounts,
  type QueueWorker,
  type Relocked,
  type RememberedTimes,
  type WorkerSettings,
} from '../engine/engine.ts'
import { type EventBoard, NAMED_MS } from '../engine/event-board.ts'
import type { EventJob, JobData, NewJob } from '../engine/event-job.ts'
import { fetching } from '../engine/fetching.ts'
import { ORDER, storedQueue } from '../engine/form.ts'
import type { FoundJob, JobQuery, ListedJob } from '../engine/job-list.ts'
import { workerOptionsOf } from '../engine/lease-limits.ts'
import type { LockToken } from '../engine/lock-token.ts'
import { PauseSwitch, type QueuePause } from '../engine/queue-pause.ts'
import { firstCause } from '../engine/reaching.ts'
import { leaveConnections, retryDeadlocks, retryingDeadlocks, useServerClock } from './backend-patches.ts'
import { emptyBeforeStart } from './before-start.ts'
import { BOARD_IS_MISSING, CREATE_BOARD } from './board-tables.ts'
import { HeardClients, PoolListeners, StuckConnects, watchListener } from './connections.ts'
import { DeadRows } from './dead-rows.ts'
import { postgresNotices } from './notices.ts'
import { CREATE_ORDER, ISOLATION, ORDER_IS_MISSING } from './order-tables.ts'
import { PostgresBoard } from './postgres-board.ts'
import { findJob, listJobs } from './postgres-job-list.ts'
import {
  ACCEPT,
  ADD_PAUSE,
  COUNT_UNFINISHED,
  DISCARD,
  DISCARD_OLDER,
  ERASE,
  EXTEND_LOCKS,
  FIND_NAME,
  FORGET,
  FORGET_EXPIRED,
  FORGET_PAUSE,
  GIVE_BACK,
  GUARANTEEING_SETTINGS,
  HAS_EVENTS,
  HAS_JOBS,
  LOOK_UP,
  NAME_JOBS,
  NOW,
  PAUSE,
  READ_COUNTS,
  READ_PAUSE,
  RECLAIM,
  RECORD_BEGIN,
  RELOCK,
  REMEMBERED,
  REPLACE_HANDLED,
  REQUEUE,
  REQUEUE_MANY,
  RESET_CRASH_COUNT,
  SCAN,
} from './statements.ts'
import { ARE_MISSING, CREATE_TABLES } from './tables.ts'
import { type Queries, TYPES, typedQueries, useTypes } from './typed-queries.ts'

const { Queue, Worker } = withBackend(createPostgresBackend)
type PostgresQueue = InstanceType<typeof Queue<JobData, unknown, string>>

/** Limit of queries that read or change many rows, or create tables. */
const QUERY_TIMEOUT_MS = 10_000
/** Ids that a scan reads at a time. */
const SCANNED_AT_ONCE = 500
/** Connections of one process in total. A server with the default `max_connections` of 100 serves nine processes. */
const MAX_CONNECTIONS = 10
/**
 * Connections that the worker leaves to deliveries, which use two batches at a time. It listens on one of the others.
 */
const KEPT_CONNECTIONS = 4
/**
 * One of this package's sets of tables beside BullMQ's: a query that finds out whether they are missing, and one that
 * creates them.
 */
const TABLES = [
  [ARE_MISSING, CREATE_TABLES],
  [BOARD_IS_MISSING, CREATE_BOARD],
] as const
/** Same, for events that run in order by key. */
const ORDERED_TABLES = [...TABLES, [ORDER_IS_MISSING, CREATE_ORDER]] as const

interface KnownRow {
  readonly id: string
  readonly token: string | null
  readonly fingerprint: number | null
  readonly dead: boolean
}

/** `bigint` values, which `pg` returns as texts. */
type CountsRow = Readonly<
  Record<'pending' | 'active' | 'dead' | 'retrying', string> & {
    oldest: string | null
    untried: string | null
    waiting_error: string | null
  }
>

export async function createPostgresEngine(
  settings: EngineSettings,
  connection: PostgresConnectionOptions,
): Promise<Engine> {
  // BullMQ imports `pg` only later, and its error has no code.
  if (!isPgPool(connection)) {
    await import('pg').catch(cause => {
      throw new ConfigurationError('postgres', "needs the package 'pg': npm install pg", {
        cause,
        page: 'missing-packages',
      })
    })
  }
  return new PostgresEngine(settings, connection)
}

class PostgresEngine implements Engine {
  readonly name: string
  readonly board: EventBoard
  readonly traced: boolean
  readonly #inbox: string
  readonly migrating?: Promise<unknown>
  /** Options shared by the queue and the worker. */
  readonly #shared: QueueOptions<PostgresConnectionOptions>
  readonly #listeners: PoolListeners
  readonly #queue: PostgresQueue
  readonly #heard: HeardClients
  readonly #stuckConnects: StuckConnects
  readonly #queries: Queries
  /** Queries that may come before the first start. */
  readonly #questions: Queries
  /** Queries that read or change many rows. */
  readonly #slowQueries: Queries
  readonly #deadRows: DeadRows
  readonly #pause: PauseSwitch
  readonly #pool: ReturnType<PostgresQueue['getBackend']>['connection']['pool']

  constructor(
    { queue: inbox, telemetry, create, limits }: EngineSettings,
    connection: PostgresConnectionOptions,
  ) {
    const queue = storedQueue(inbox)
    this.name = queue
    this.#inbox = inbox
    this.#shared = { connection: withLimits(connection), ...(telemetry && { telemetry }) }
    this.traced = telemetry !== undefined
    this.#listeners = new PoolListeners(isPgPool(connection) ? connection : undefined)
    this.#queue = this.#listeners.track(
      () => new Queue<JobData, unknown, string>(queue, { ...this.#shared, skipMetasUpdate: !create }),
    )
    // The failed call rejects by itself. Without a listener, BullMQ would also print the error.
    this.#queue.on('error', () => {})
    const backend = this.#queue.getBackend()
    this.#pool = backend.connection.pool
    // In the turn in which BullMQ asks for its first connection.
    this.#heard = new HeardClients(this.#pool)
    const internals = postgresBackend(backend)
    useTypes(internals, backend.connection.pool, limits.silenceMs)
    retryDeadlocks(internals)
    // Traced adds call this.
    backend.addJob = async ({ name, data, opts }, jobId) => {
      await this.#accept([{ name, data: JSON.parse(data), opts: { ...opts, jobId } }])
      return jobId
    }
    this.#stuckConnects = new StuckConnects(this.#pool, limits.silenceMs)
    this.#queries = typedQueries(this.#pool, limits.silenceMs)
    this.#questions = emptyBeforeStart(this.#queries)
    this.#slowQueries = typedQueries(this.#pool, QUERY_TIMEOUT_MS)
    this.#deadRows = new DeadRows(this.#queries)
    this.board = new PostgresBoard(this.#queries, queue)
    this.#pause = new PauseSwitch(this.#queue, {
      read: async () => {
        const { rows } = await this.#queries.query(READ_PAUSE, [queue])
        return [rows[0]?.['paused'], rows[0]?.['record']]
      },
      pause: async now => {
        const { rows } = await this.#queries.query(PAUSE, [queue, now])
        return rows[0]?.['is_new'] === true
      },
      add: record => this.#queries.query(ADD_PAUSE, [queue, record]),
      forget: () => this.#queries.query(FORGET_PAUSE, [queue]),
    })
    if (migrates(connection)) this.migrating = new Promise(resolve => this.#pool.on('connect', resolve))
  }

  reasonOf(error: unknown): unknown {
    return firstCause(error)
  }

  ready(): Promise<unknown> {
    return this.#queue.waitUntilReady()
  }

  async exists(): Promise<boolean> {
    // BullMQ writes its version when it opens a queue, and ignores a failure to do so.
    if ((await this.#queue.getVersion()) !== null) return true
    const { rows } = await this.#queries.query(HAS_JOBS, [this.name])
    return rows.length > 0
  }

  async refuseEarlier(): Promise<void> {
    const { rows } = await this.#queries.query(HAS_EVENTS, [this.#inbox])
    if (rows.length > 0) throw earlierVersion(`There are events in the queue '${this.#inbox}'`)
  }

  async prepare({ serialize: ordered }: PreparePolicy): Promise<void> {
    if (ordered) await this.#checkIsolation()
    try {
      for (const [isMissing, create] of ordered ? ORDERED_TABLES : TABLES) {
        const { rows } = await this.#slowQueries.query<{ readonly missing: boolean }>(isMissing)
        if (rows[0]?.missing) await this.#slowQueries.query(create)
      }
    } catch (cause) {
      throw (cause as { readonly code?: unknown }).code === '42501' ? mayNotCreate(cause) : cause
    }
  }

  add(jobs: readonly NewJob[]): readonly Promise<boolean | KnownJob>[] {
    if (this.traced) return jobs.map(job => this.#addTraced(job))
    const all = this.#accept(jobs)
    // A single value that PostgreSQL cannot store makes it refuse the whole statement. The other jobs must not fail.
    const orAlone = (job: NewJob, error: unknown) =>
      jobs.length > 1 && isRefusedValue(error) ? this.#accept([job]) : Promise.reject(error)
    return jobs.map(async job => answerTo(job, await all.catch(error => orAlone(job, error))))
  }

  async lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    const { rows } = await this.#queries.query<KnownRow>(LOOK_UP, [this.name, jobIds])
    return byIdOf(rows)
  }

  async countUnfinished(limit: number): Promise<number> {
    const { rows } = await this.#slowQueries.query(COUNT_UNFINISHED, [this.name, limit])
    return Number(rows[0]?.['unfinished'])
  }

  async readCounts(): Promise<QueueCounts> {
    const asked = this.#slowQueries.query<CountsRow>(READ_COUNTS, [this.name])
    const [{ rows }, paused] = await Promise.all([asked, this.#queue.isPaused()])
    const { pending, active, dead, retrying, oldest, untried, waiting_error } = rows[0]!
    const timeOf = (value: string | null) => (value === null ? undefined : Number(value))
    return {
      pending: Number(pending),
      active: Number(active),
      dead: Number(dead),
      retrying: Number(retrying),
      oldestAt: timeOf(oldest),
      untriedAt: paused ? undefined : timeOf(untried),
      waitingError: waiting_error ?? undefined,
      ...(paused && { paused }),
      ...this.#deadRows.stats,
    }
  }

  async requeue(jobId: string, redelivery?: NewJob): Promise<boolean> {
    const values = [
      this.name,
      jobId,
      redelivery?.name,
      redelivery && JSON.stringify(redelivery.data),
      Date.now(),
      redelivery && JSON.stringify(redelivery.opts[ORDER]),
    ]
    const { rows } = await this.#queries.query(REQUEUE, values)
    return rows[0]?.['code'] === 1
  }

  requeueMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return this.#change(REQUEUE_MANY, [this.name, jobIds, Date.now()])
  }

  discardMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return this.#change(DISCARD, [this.name, jobIds])
  }

  async *scan(): AsyncIterable<readonly string[]> {
    for (let after = ''; ; ) {
      const { rows } = await this.#slowQueries.query<{ readonly id: string }>(SCAN, [
        this.name,
        after,
        SCANNED_AT_ONCE,
      ])
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows.map(({ id }) => id)
      after = last.id
    }
  }

  async eraseWaiting(jobId: string): Promise<boolean> {
    const { rows } = await this.#queries.query(ERASE, [this.name, jobId])
    return Number(rows[0]?.['n']) === 1
  }

  async now(): Promise<number> {
    const { rows } = await this.#queries.query<{ readonly now: string }>(NOW)
    return Number(rows[0]!.now)
  }

  async discardOlder(failedBefore: number, limit: number): Promise<number> {
    const { rows } = await this.#queries.query(DISCARD_OLDER, [this.name, failedBefore, limit])
    return Number(rows[0]?.['n'])
  }

  async forget(jobId: string): Promise<boolean> {
    // Tried twice, because the job may just have been replaced by its id.
    for (let tries = 0; tries < 2; tries++) {
      const { rows } = await this.#questions.query(FORGET, [this.name, jobId])
      if (rows.length > 0) return true
    }
    return false
  }

  async newestWaiting(limit: number): Promise<readonly string[]> {
    const jobs = await this.list({ state: 'pending', order: 'newest', limit, bodies: false })
    return jobs.map(({ id }) => id)
  }

  list(query: JobQuery): Promise<readonly ListedJob[]> {
    return listJobs(this.#slowQueries, this.name, query)
  }

  find(jobId: string): Promise<FoundJob | undefined> {
    return findJob(this.#queries, this.name, jobId)
  }

  async remembered(jobId: string): Promise<RememberedTimes | undefined> {
    const { rows } = await this.#questions.query<{
      readonly handled_at_ms: string
      readonly forget_at_ms: string
    }>(REMEMBERED, [this.name, jobId])
    const [row] = rows
    if (row === undefined) return undefined
    const { handled_at_ms: at, forget_at_ms: until } = row
    return { rememberedUntil: Number(until), handledAt: Number(at) }
  }

  async nameJobs(names: ReadonlyMap<string, string>): Promise<void> {
    const values = [this.name, [...names.keys()], [...names.values()], NAMED_MS]
    await this.#queries.query(NAME_JOBS, values)
  }

  async findName(key: string): Promise<string | undefined> {
    const { rows } = await this.#questions.query<{ readonly id: string }>(FIND_NAME, [this.name, key])
    return rows[0]?.id
  }

  async prune({ wholeMs, limit }: Bite): Promise<boolean> {
    const counts = [
      await this.#slowQueries.query(REPLACE_HANDLED, [this.name, wholeMs, limit, MAX_AGE_MS]),
      await this.#slowQueries.query(FORGET_EXPIRED, [this.name, limit]),
    ]
    return counts.some(({ rows }) => Number(rows[0]?.['n']) === limit)
  }

  /** A full disk has no room for the record of a deletion either. */
  isFull(): boolean {
    return false
  }

  newWorker({ limits, ...settings }: WorkerSettings): QueueWorker {
    // The queue's pool: BullMQ would open a second one of the same size.
    const options = {
      ...settings,
      ...workerOptionsOf(limits),
      ...this.#shared,
      connection: this.#pool,
    }
    const worker = this.#listeners.track(() => new Worker<JobData, unknown, string>(this.name, null, options))
    const backend = worker.getBackend()
    // Until BullMQ looks up a pool's schema, it assumes its default one.
    Object.assign(backend.connection, { schema: this.#queue.getBackend().connection.schema })
    // BullMQ's own hour relies on the connection that listens for new jobs, which may have failed silently.
    limitBlocking(backend, limits.blockMs / 1000)
    const internals = postgresBackend(backend)
    useServerClock(internals)
    leaveConnections(internals, Math.max(1, sizeOf(this.#pool) - KEPT_CONNECTIONS))
    useTypes(internals, this.#pool, limits.silenceMs)
    retryDeadlocks(internals)
    watchListener(internals, limits.silenceMs)
    backend.moveStalledJobsToWait = async () => {
      const { rows } = await this.#queries.query(RECLAIM, [this.name])
      return rows.map(row => String(row['id']))
    }
    return Object.assign(worker, fetching(worker, backend), {
      extendJobLocks: async (jobIds: string[], tokens: LockToken[], ms: number) => {
        const { rows } = await this.#queries.query(EXTEND_LOCKS, [this.name, jobIds, tokens, Math.ceil(ms)])
        return rows.map(row => String(row['id']))
      },
      relock: async (job: EventJob, token: LockToken, lockMs: number) => {
        const { id, attemptsStarted, processedOn, attemptsMade, stalledCounter } = job
        const lock = [this.name, id, token, Math.ceil(lockMs)]
        const values = [...lock, attemptsStarted, processedOn, attemptsMade, stalledCounter]
        const { rows } = await this.#queries.query<{ readonly relocked: Relocked }>(RELOCK, values)
        return rows[0]!.relocked
      },
      recordBegin: async (jobId: string, token: LockToken, progress: string, lockMs: number) => {
        const values = [this.name, jobId, token, progress, Math.ceil(lockMs)]
        return (await this.#queries.query(RECORD_BEGIN, values)).rows.length > 0
      },
      resetCrashCount: (jobId: string) => this.#queries.query(RESET_CRASH_COUNT, [this.name, jobId]),
      release: (token: LockToken) => this.#queries.query(GIVE_BACK, [this.name, token]),
    })
  }

  pause(): Promise<boolean> {
    return this.#pause.pause()
  }

  resume(): Promise<boolean> {
    return this.#pause.resume()
  }

  paused(): Promise<QueuePause | undefined> {
    return this.#pause.paused()
  }

  async notices(): Promise<readonly StoreNotice[]> {
    // A server that only speaks the protocol may not have these views.
    const deadRows = this.#deadRows.check().catch(() => [])
    const settings = await this.#settings()
    return [...settings, ...(await deadRows)]
  }

  close(): Promise<unknown> {
    return this.#queue.close()
  }

  async disconnect(): Promise<void> {
    this.#stuckConnects.stop()
    await this.#queue.disconnect()
    this.#listeners.remove()
    this.#heard.stop()
  }

  async #settings(): Promise<readonly StoreNotice[]> {
    const sentAt = Date.now()
    const { rows } = await this.#queries.query(GUARANTEEING_SETTINGS)
    const asked = { sentAt, answeredAt: Date.now() }
    return [...postgresNotices(rows[0] ?? {}), ...clockNotice('PostgreSQL', Number(rows[0]?.['now']), asked)]
  }

  async #checkIsolation(): Promise<void> {
    const { rows } = await this.#queries.query<{ readonly isolation: string }>(ISOLATION)
    if (rows[0]?.isolation === 'read committed') return
    throw new ConfigurationError(
      'serializeBy',
      `the database user's isolation level is '${rows[0]?.isolation}'; set its default_transaction_isolation to 'read committed'`,
    )
  }

  /** Returns the ids of the rows that a statement changed. */
  async #change(statement: string, values: readonly unknown[]): Promise<readonly string[]> {
    const { rows } = await retryingDeadlocks(() =>
      this.#slowQueries.query<{ readonly id: string }>(statement, values),
    )
    return rows.map(({ id }) => id)
  }

  async #accept(jobs: readonly NewJob[]): Promise<ReadonlyMap<string, KnownJob>> {
    const values = [this.name, JSON.stringify(jobs.toSorted(byLock).map(toEntry))]
    const { rows } = await retryingDeadlocks(() => this.#queries.query<KnownRow>(ACCEPT, values))
    return byIdOf(rows)
  }

  /** BullMQ makes a span of each add, and stores the span's context with the job. */
  async #addTraced({ name, data, opts }: NewJob): Promise<boolean> {
    await this.#queue.add(name, data, opts)
    return false
  }
}

/** Formats a job as BullMQ passes it to its own functions. */
function toEntry({ name, data, opts }: NewJob): object {
  return { id: opts.jobId, name, data, opts, timestamp: Date.now(), attempts: opts.attempts }
}

function byIdOf(rows: readonly KnownRow[]): ReadonlyMap<string, KnownJob> {
  return new Map(
    rows.map(({ id, token, fingerprint, dead }) => {
      const remembered = token === null || fingerprint === null ? {} : { token, fingerprint }
      return [id, { ...remembered, dead }]
    }),
  )
}

function answerTo({ data, opts }: NewJob, found: ReadonlyMap<string, KnownJob>): boolean | KnownJob {
  const known = found.get(opts.jobId)
  return known?.token === data.token || (known ?? false)
}

/**
 * Sorts jobs in the same order in every process: otherwise batches with the same events would wait for each other's
 * rows or key locks. Jobs of one key stay in order of arrival.
 */
function byLock({ opts: a }: NewJob, { opts: b }: NewJob): number {
  const [key = '', other = ''] = [a[ORDER]?.key, b[ORDER]?.key]
  if (key !== other) return key < other ? -1 : 1
  return key === '' && a.jobId < b.jobId ? -1 : Number(key === '')
}

/** Returns whether PostgreSQL refused a value that it cannot store (class 22). Only one job is to blame for that. */
function isRefusedValue(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('22')
}

function mayNotCreate(cause: unknown): AckhookError {
  return new AckhookError(
    'inbox_unavailable',
    "The user in the option `postgres` may not create Ackhook's own tables and function in BullMQ's schema: start the inbox once with a user that may, then grant this user access to them.",
    { cause },
  )
}

/** BullMQ's type of a pool lacks `options`. */
function sizeOf(pool: object): number {
  const { options } = pool as { readonly options?: { readonly max?: number } }
  return options?.max ?? MAX_CONNECTIONS
}

/** Decides as BullMQ does. */
function migrates(connection: PostgresConnectionOptions): boolean {
  if (typeof connection === 'string' || isPgPool(connection)) return false
  return connection.migrate ?? connection.skipMigrations === false
}

/** Adds limits: by default a pool waits forever for a silent server, and queues all other queries. */
function withLimits(connection: PostgresConnectionOptions): PostgresConnectionOptions {
  if (isPgPool(connection)) return connection
  const config = typeof connection === 'string' ? { connectionString: connection } : connection
  return {
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: 5000,
    query_timeout: QUERY_TIMEOUT_MS,
    // The worker listens on one connection, and would not notice that the network has dropped it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    ...config,
    // BullMQ sets this itself on its own connections.
    types: TYPES,
  }
}
