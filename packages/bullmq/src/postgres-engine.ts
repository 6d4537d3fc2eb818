import { createPostgresBackend, isPgPool, type PostgresConnectionOptions, withBackend } from 'bullmq'
import type { Engine } from './engine.ts'
import type { EventQueue, JobData, NewJob } from './event-job.ts'
import type { ResolvedOptions } from './options.ts'

const { Queue, Worker } = withBackend(createPostgresBackend)

export async function createPostgresEngine(
  options: ResolvedOptions,
  connection: PostgresConnectionOptions,
): Promise<Engine> {
  const shared = {
    connection: limited(connection),
    ...(options.telemetry && { telemetry: options.telemetry }),
  }
  const queue = new Queue<JobData, unknown, string>(options.queue, shared)
  const { pool } = queue.getBackend().connection

  /** Few jobs are added each by itself: the statement for many takes as long as six of them. */
  function addAll(jobs: readonly NewJob[]): Promise<unknown> {
    if (jobs.length >= MANY) return queue.addBulk([...jobs])
    return Promise.all(jobs.map(({ name, data, opts }) => queue.add(name, data, opts)))
  }

  return {
    queue: queue as unknown as EventQueue,
    traced: options.telemetry !== undefined,
    async add(jobs) {
      const sorted = jobs.toSorted(byId)
      const ids = sorted.map(({ opts }) => opts.jobId)
      const [known] = await Promise.all([pool.query(KNOWN, [options.queue, ids]), addAll(sorted)])
      return known.rows.length > 0
    },
    discard: async jobId => (await pool.query(DISCARD, [options.queue, jobId])).rows[0]?.n === 1,
    newWorker: (process, settings) =>
      new Worker<JobData, unknown, string>(options.queue, process, { ...settings, ...shared }),
    notices: async () => [],
    async disconnect() {
      await queue.disconnect()
    },
  }
}

const MANY = 8

/** One order everywhere: batches of two processes that hold the same events would wait for each other's rows. */
function byId(a: NewJob, b: NewJob): number {
  return a.opts.jobId < b.opts.jobId ? -1 : 1
}

/** Asked beside the add, which takes longer: where it is overtaken, the tokens of the jobs tell. */
const KNOWN = 'SELECT 1 FROM job WHERE queue = $1 AND id = ANY($2) LIMIT 1'

/**
 * BullMQ's own function removes a job in any state. The row is locked first, so that a redelivery that re-arms the
 * event at the same time either finds it gone or keeps it.
 */
const DISCARD = `
WITH dead AS (SELECT id FROM job WHERE queue = $1 AND id = $2 AND state = 'failed' FOR UPDATE)
SELECT remove($1, id, false) AS n FROM dead`

/** A pool waits for ever for a server that does not answer, and would pile up what waits. */
function limited(connection: PostgresConnectionOptions): PostgresConnectionOptions {
  if (isPgPool(connection)) return connection
  const config = typeof connection === 'string' ? { connectionString: connection } : connection
  return { connectionTimeoutMillis: 5000, ...config }
}
