import type { Engine } from './engine/engine.ts'
import type { ResolvedOptions } from './options.ts'
import { createPostgresEngine } from './postgres/postgres-engine.ts'
import { createRedisEngine } from './redis/redis-engine.ts'

export async function createEngine({
  engine: { kind, connection },
  ...settings
}: ResolvedOptions): Promise<Engine> {
  const engine = await (kind === 'redis'
    ? createRedisEngine(settings, connection)
    : createPostgresEngine(settings, connection))
  // The call that failed rejects. Without a listener BullMQ would print the error as well.
  engine.queue.on('error', () => {})
  return engine
}
