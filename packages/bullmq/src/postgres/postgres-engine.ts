import type { StoreNotice } from '@ackhook/core/spi'
import {
  createPostgresBackend,
  isPgPool,
  type PostgresConnectionOptions,
  type QueueOptions,
  withBackend,
} from 'bullmq'
import type {
  Engine,
  EngineSettings,
  JobProcessor,
  KnownJob,
  QueueWorker,
  WorkerSettings,
} from '../engine/engine.ts'
import type { EventQueue, JobData, NewJob } from '../engine/event-job.ts'
import { postgresNotices } from './notices.ts'
import { PoolListeners } from './pool-listeners.ts'
import { retryDeadlocks } from './retry-deadlocks.ts'
import {
  COUNT_UNFINISHED,
  DISCARD,
  DURABILITY_SETTINGS,
  LOOK_UP,
  REQUEUE,
  RESET_CRASH_COUNT,
} from './statements.ts'

const { Queue, Worker } = withBackend(createPostgresBackend)
type PostgresQueue = InstanceType<typeof Queue<JobData, unknown, string>>

/** From so many jobs on, one statement for all is faster than one for each. perf: note 27. */
const MIN_BULK = 8
/** After this a connection that does not answer is replaced: the network may have dropped it. */
const QUERY_TIMEOUT_MS = 10_000
/** As on Redis. BullMQ's hour relies on the connection that listens for new jobs, which may have gone silent. */
const MAX_BLOCK_S = { get: () => 10 }

export async function createPostgresEngine(
  settings: EngineSettings,
  connection: PostgresConnectionOptions,
): Promise<Engine> {
  return new PostgresEngine(settings, connection)
}

class PostgresEngine implements Engine {
  readonly queue: EventQueue
  readonly traced: boolean
  readonly migrating?: Promise<unknown>
  readonly #name: string
  /** What queue and worker have in common. */
  readonly #shared: QueueOptions<PostgresConnectionOptions>
  readonly #listeners: PoolListeners
  readonly #queue: PostgresQueue
  readonly #pool: ReturnType<PostgresQueue['getBackend']>['connection']['pool']

  constructor({ queue, telemetry }: EngineSettings, connection: PostgresConnectionOptions) {
    this.#name = queue
    this.#shared = { connection: withTimeouts(connection), ...(telemetry && { telemetry }) }
    this.traced = telemetry !== undefined
    this.#listeners = new PoolListeners(isPgPool(connection) ? connection : undefined)
    this.#queue = this.#listeners.track(() => new Queue<JobData, unknown, string>(queue, this.#shared))
    this.queue = this.#queue as unknown as EventQueue
    const backend = this.#queue.getBackend()
    retryDeadlocks(backend)
    this.#pool = backend.connection.pool
    if (migrates(connection)) this.migrating = new Promise(resolve => this.#pool.on('connect', resolve))
  }

  add(jobs: readonly NewJob[]): readonly Promise<boolean>[] {
    const adds = this.#addEach(jobs)
    // After the adds: a dead letter that made an add do nothing may be discarded at the same time, and a lookup before
    // the add would not show that.
    const lookup = Promise.allSettled(adds.values()).then(() =>
      this.lookUp(jobs.map(({ opts }) => opts.jobId)),
    )
    return jobs.map(async job => {
      const [known] = await Promise.all([lookup, adds.get(job)])
      return known.get(job.opts.jobId)?.token === job.data.token
    })
  }

  async lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    const { rows } = await this.#pool.query(LOOK_UP, [this.#name, jobIds])
    return new Map(
      rows.map(({ id, fingerprint, token, dead }) => [id, { fingerprint: Number(fingerprint), token, dead }]),
    )
  }

  async countUnfinished(): Promise<number> {
    const { rows } = await this.#pool.query(COUNT_UNFINISHED, [this.#name])
    return Number(rows[0].unfinished)
  }

  async requeue(jobId: string, redelivery?: Pick<NewJob, 'name' | 'data'>): Promise<boolean> {
    const values = [
      this.#name,
      jobId,
      redelivery?.name,
      redelivery && JSON.stringify(redelivery.data),
      Date.now(),
    ]
    const { rows } = await this.#pool.query(REQUEUE, values)
    return rows[0]?.code === 1
  }

  async discard(jobId: string): Promise<boolean> {
    const { rows } = await this.#pool.query(DISCARD, [this.#name, jobId])
    return rows[0]?.n === 1
  }

  newWorker(run: JobProcessor, settings: WorkerSettings): QueueWorker {
    const worker = this.#listeners.track(
      () => new Worker<JobData, unknown, string>(this.#name, run, { ...settings, ...this.#shared }),
    )
    Object.defineProperty(worker.getBackend(), 'maximumBlockTimeout', MAX_BLOCK_S)
    retryDeadlocks(worker.getBackend())
    return Object.assign(worker, {
      resetCrashCount: (jobId: string) => this.#pool.query(RESET_CRASH_COUNT, [this.#name, jobId]),
    })
  }

  async notices(): Promise<readonly StoreNotice[]> {
    const { rows } = await this.#pool.query(DURABILITY_SETTINGS)
    return postgresNotices(rows[0] ?? {})
  }

  async disconnect(): Promise<void> {
    await this.#queue.disconnect()
    this.#listeners.remove()
  }

  #addEach(jobs: readonly NewJob[]): ReadonlyMap<NewJob, Promise<unknown>> {
    const sorted = jobs.toSorted(byId)
    if (jobs.length < MIN_BULK) return new Map(sorted.map(job => [job, this.#addOne(job)]))
    const bulk = this.#queue.addBulk(sorted)
    const orAlone = (job: NewJob) =>
      bulk.catch(error => (isRefusedValue(error) ? this.#addOne(job) : Promise.reject(error)))
    return new Map(sorted.map(job => [job, orAlone(job)]))
  }

  #addOne({ name, data, opts }: NewJob): Promise<unknown> {
    return this.#queue.add(name, data, opts)
  }
}

/** The same order in every process: batches with the same events would otherwise wait for each other's rows. */
function byId(a: NewJob, b: NewJob): number {
  return a.opts.jobId < b.opts.jobId ? -1 : 1
}

/** Whether PostgreSQL refused a value it cannot store (class 22): one job's fault, and not its neighbours'. */
function isRefusedValue(error: { readonly code?: unknown }): boolean {
  return String(error.code).startsWith('22')
}

/** As BullMQ decides it. */
function migrates(connection: PostgresConnectionOptions): boolean {
  if (typeof connection === 'string' || isPgPool(connection)) return false
  return connection.migrate ?? connection.skipMigrations === false
}

/** By default a pool waits forever for a server that does not answer, and queues up whatever else comes. */
function withTimeouts(connection: PostgresConnectionOptions): PostgresConnectionOptions {
  if (isPgPool(connection)) return connection
  const config = typeof connection === 'string' ? { connectionString: connection } : connection
  return { connectionTimeoutMillis: 5000, query_timeout: QUERY_TIMEOUT_MS, ...config }
}
