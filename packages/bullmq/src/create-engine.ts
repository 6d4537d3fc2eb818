import { AckhookError, ConfigurationError } from '@ackhook/core'
import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { startError } from './engine/reaching.ts'
import type { ResolvedOptions } from './options.ts'
import { createPostgresEngine } from './postgres/postgres-engine.ts'
import { createRedisEngine } from './redis/redis-engine.ts'

/** Shorter than the caller's timeout. */
const DEADLINE_MS = 4000

export async function createEngine(options: ResolvedOptions): Promise<Engine> {
  const { create } = options
  const engine = await newEngine(options)
  if (!create) {
    try {
      const found = requireQueue(engine, options)
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
  prefix,
  telemetry,
  limits,
  create,
}: ResolvedOptions): Promise<Engine> {
  const settings = { queue, prefix, telemetry, limits, create }
  return kind === 'postgres'
    ? createPostgresEngine(settings, connection)
    : createRedisEngine(settings, connection)
}

async function requireQueue(engine: Engine, { queue, prefix }: ResolvedOptions): Promise<void> {
  await engine.ready()
  await engine.refuseEarlier()
  if (await engine.exists()) return
  const prefixed = prefix === undefined ? '' : ` with the prefix '${prefix}'`
  throw new ConfigurationError('queue', `there is no queue '${queue}'${prefixed} on this server`)
}
