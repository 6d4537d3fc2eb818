import { createPostgresBackend, isPgPool, type PostgresConnectionOptions, withBackend } from 'bullmq'
import type { Engine } from './engine.ts'
import type { EventQueue, JobData } from './event-job.ts'
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
  const queue = new Queue<JobData, unknown, string>(options.queue, shared) as unknown as EventQueue
  return {
    queue,
    exists: async jobId => (await queue.getJob(jobId)) !== undefined,
    newWorker: (process, settings) =>
      new Worker<JobData, unknown, string>(options.queue, process, { ...settings, ...shared }),
    notices: async () => [],
    async disconnect() {
      await queue.disconnect()
    },
  }
}

/** A pool waits for ever for a server that does not answer, and would pile up what waits. */
function limited(connection: PostgresConnectionOptions): PostgresConnectionOptions {
  if (isPgPool(connection)) return connection
  const config = typeof connection === 'string' ? { connectionString: connection } : connection
  return { connectionTimeoutMillis: 5000, ...config }
}
