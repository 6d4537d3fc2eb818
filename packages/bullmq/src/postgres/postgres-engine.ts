import { createPostgresBackend, isPgPool, type PostgresConnectionOptions, withBackend } from 'bullmq'
import type { Engine, KnownJob } from '../create-engine.ts'
import type { EventQueue, JobData, NewJob } from '../engine/event-job.ts'
import type { ResolvedOptions } from '../options.ts'
import { postgresNotices } from './notices.ts'
import { notedListeners } from './pool-listeners.ts'
import { repeatDeadlocked } from './retry-deadlocks.ts'

const { Queue, Worker } = withBackend(createPostgresBackend)

export async function createPostgresEngine(
  options: ResolvedOptions,
  connection: PostgresConnectionOptions,
): Promise<Engine> {
  const shared = {
    connection: limited(connection),
    ...(options.telemetry && { telemetry: options.telemetry }),
  }
  const listeners = notedListeners(isPgPool(connection) ? connection : undefined)
  const queue = listeners.note(() => new Queue<JobData, unknown, string>(options.queue, shared))
  const backend = queue.getBackend()
  repeatDeadlocked(backend)
  const { pool } = backend.connection

  const addOne = ({ name, data, opts }: NewJob): Promise<unknown> => queue.add(name, data, opts)

  /** Few jobs are added each by itself: the statement for many takes as long as six of them. */
  function addAll(jobs: readonly NewJob[]): ReadonlyMap<NewJob, Promise<unknown>> {
    const sorted = jobs.toSorted(byId)
    if (jobs.length < MANY) return new Map(sorted.map(job => [job, addOne(job)]))
    const all = queue.addBulk(sorted)
    const orAlone = (job: NewJob) =>
      all.catch(error => (isOfValues(error) ? addOne(job) : Promise.reject(error)))
    return new Map(sorted.map(job => [job, orAlone(job)]))
  }

  /** BullMQ's own look would fetch whole rows, of 27 columns, and one at a time. */
  async function look(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    const { rows } = await pool.query(LOOK, [options.queue, jobIds])
    return new Map(
      rows.map(({ id, fingerprint, token, dead }) => [id, { fingerprint: Number(fingerprint), token, dead }]),
    )
  }

  return {
    queue: queue as unknown as EventQueue,
    traced: options.telemetry !== undefined,
    add(jobs) {
      const adds = addAll(jobs)
      // After the add: a dead letter that made the add do nothing may be discarded beside it, and a look that came
      // before or between would not tell.
      const looked = Promise.allSettled(adds.values()).then(() => look(jobs.map(({ opts }) => opts.jobId)))
      return jobs.map(async job => {
        const [there] = await Promise.all([looked, adds.get(job)])
        return there.get(job.opts.jobId)?.token === job.data.token
      })
    },
    look,
    countHeld: async () => Number((await pool.query(HELD, [options.queue])).rows[0].held),
    async rearm(jobId, again) {
      const values = [options.queue, jobId, again?.name, again && JSON.stringify(again.data), Date.now()]
      return (await pool.query(REARM, values)).rows[0]?.code === 1
    },
    discard: async jobId => (await pool.query(DISCARD, [options.queue, jobId])).rows[0]?.n === 1,
    newWorker(process, settings) {
      const worker = listeners.note(
        () => new Worker<JobData, unknown, string>(options.queue, process, { ...settings, ...shared }),
      )
      Object.defineProperty(worker.getBackend(), 'maximumBlockTimeout', MOST_WAIT)
      repeatDeadlocked(worker.getBackend())
      const resetCrashCount = (jobId: string) => pool.query(RESET_CRASH_COUNT, [options.queue, jobId])
      return Object.assign(worker, { resetCrashCount })
    },
    ...(migrates(connection) && { migrating: new Promise(resolve => pool.on('connect', resolve)) }),
    notices: async () => postgresNotices((await pool.query(SETTINGS)).rows[0] ?? {}),
    async disconnect() {
      await queue.disconnect()
      listeners.remove()
    },
  }
}

const MANY = 8

/** One order everywhere: batches of two processes that hold the same events would wait for each other's rows. */
function byId(a: NewJob, b: NewJob): number {
  return a.opts.jobId < b.opts.jobId ? -1 : 1
}

/** Whether PostgreSQL refused what it was given to keep (class 22): one job's fault, not that of its neighbours. */
function isOfValues(error: { readonly code?: unknown }): boolean {
  return String(error.code).startsWith('22')
}

const LOOK = `
SELECT id, data->>'fingerprint' AS fingerprint, data->>'token' AS token, state = 'failed' AS dead
FROM job WHERE queue = $1 AND id = ANY($2)`

/** One count for each of BullMQ's indexes: its own counts read every job of the retention. */
const HELD = `
SELECT (SELECT count(*) FROM job WHERE queue = $1 AND state = 'waiting')
  + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'delayed')
  + (SELECT count(*) FROM job WHERE queue = $1 AND state = 'active') AS held`

/**
 * BullMQ's own function moves the job but leaves its data. The job is written first, and only if it is dead: the
 * row stays locked until it is moved, and who comes next finds it waiting.
 */
const REARM = `
WITH dead AS (
  UPDATE job SET name = COALESCE($3, name), data = COALESCE($4::jsonb, data), stalled_count = 0,
    added_at_ms = $5
  WHERE queue = $1 AND id = $2 AND state = 'failed' RETURNING id
)
SELECT reprocess_job($1, id, 'failed', false, true, true) AS code FROM dead`

const RESET_CRASH_COUNT = 'UPDATE job SET stalled_count = 0 WHERE queue = $1 AND id = $2'

/**
 * BullMQ's own function removes a job in any state. The row is locked first, so that a redelivery that re-arms the
 * event at the same time either finds it gone or keeps it.
 */
const DISCARD = `
WITH dead AS (SELECT id FROM job WHERE queue = $1 AND id = $2 AND state = 'failed' FOR UPDATE)
SELECT remove($1, id, false) AS n FROM dead`

/** As they are for this user and database. */
const SETTINGS = `
SELECT current_setting('synchronous_commit') AS "synchronous_commit", current_setting('fsync') AS "fsync"`

/** After this a connection that does not answer is replaced: the network may have forgotten it. */
const QUERY_MS = 10_000
/** As on Redis. BullMQ's hour relies on the connection that tells of new jobs, which may have gone silent. */
const MOST_WAIT = { get: () => 10 }

/** As BullMQ decides it. */
function migrates(connection: PostgresConnectionOptions): boolean {
  if (typeof connection === 'string' || isPgPool(connection)) return false
  return connection.migrate ?? connection.skipMigrations === false
}

/** A pool waits for ever for a server that does not answer, and would pile up what waits. */
function limited(connection: PostgresConnectionOptions): PostgresConnectionOptions {
  if (isPgPool(connection)) return connection
  const config = typeof connection === 'string' ? { connectionString: connection } : connection
  return { connectionTimeoutMillis: 5000, query_timeout: QUERY_MS, ...config }
}
