import { postgresEngine, redisEngine, type TestEngine } from '../../../packages/bullmq/test/engines.ts'
import { unique } from '../../../packages/bullmq/test/parts.ts'
import type { Place, Places } from './closes.ts'

/** Places with a separate queue for each receiver. */
const onQueues = (startEngine: () => Promise<TestEngine>) => async (): Promise<Place> => {
  const engine = await startEngine()
  return { options: () => ({ inbox: engine.inbox(unique('q')) }), stop: () => engine.stop() }
}

export const BULLMQ_PLACES: Places = [
  ['Redis', onQueues(redisEngine)],
  ['PostgreSQL', onQueues(postgresEngine)],
]
