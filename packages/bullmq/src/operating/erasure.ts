import type { Erasure } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'
import { jobIdOf, keyOf } from '../engine/event-job.ts'
import { questionError } from '../engine/reaching.ts'

type Ask = <T>(operation: string, question: (engine: Engine) => Promise<T>) => Promise<T>

/** Finds and deletes jobs that were made of events. Those of another producer are not read. */
export function createErasure(ask: Ask): Erasure {
  return {
    async *scan() {
      const engine = await ask('scan', async engine => engine)
      try {
        for await (const ids of engine.scan()) yield ids.flatMap(id => keyOf(id) ?? [])
      } catch (error) {
        throw questionError(error, engine)
      }
    },
    eraseWaiting: key => ask('eraseWaiting', engine => engine.eraseWaiting(jobIdOf(key))),
  }
}
