import { AckhookError, ConfigurationError } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { startError } from './engine/reaching.ts'
import type { ResolvedOptions } from './options.ts'
import { createPostgresEngine } from './postgres/postgres-engine.ts'
import { ManyQueues } from './queues/many-queues.ts'
import { QueueRecord } from './queues/queue-record.ts'
import { connectRedis } from './redis/redis-engine.ts'

/** Shorter than the caller's timeout. */
const DEADLINE_MS = 4000

export async function createEngine(options: ResolvedOptions): Promise<Engine> {
  const { prefix, create } = options
  const engine = await newEngine(options)
  if (!create) {
    try {
      const found = requireQueue(engine, prefix)
      await withDeadline(engine.refused === undefined ? found : Promise.race([found, engine.refused]), {
        operation: 'opening',
        ms: DEADLINE_MS,
      })
    } catch (error) {
      void engine.disconnect()
      throw error instanceof AckhookError ? error : startError(engine.reasonOf(error))
    }
  }
  return engine
}

async function newEngine({
  engine: { kind, connection },
  queue,
  queues,
  prefix,
  telemetry,
  limits,
  create,
}: ResolvedOptions): Promise<Engine> {
  if (kind === 'postgres')
    return createPostgresEngine({ queue, prefix, telemetry, limits, create }, connection)
  const { client, open } = await connectRedis({ telemetry, create }, connection)
  const place = { queue, prefix }
  return new ManyQueues(queues, place, open, new QueueRecord(client, place))
}

async function requireQueue(engine: Engine, prefix: string | undefined): Promise<void> {
  if (await engine.exists()) return
  const prefixed = prefix === undefined ? '' : ` with the prefix '${prefix}'`
  throw new ConfigurationError('queue', `there is no queue '${engine.name}'${prefixed} on this server`)
}
