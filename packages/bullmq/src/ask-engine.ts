import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { questionError } from './start-check.ts'

/**
 * Asks a question of a person or a tool once the engine is connected: on Redis a call before that fails, as deliveries
 * should. Rejects with the reason, within a deadline.
 */
export async function askEngine<T>(
  openEngine: () => Promise<Engine>,
  question: (engine: Engine) => Promise<T>,
  deadline: { readonly operation: string; readonly ms: number },
): Promise<T> {
  let engine: Engine | undefined
  const answered = openEngine().then(async opened => {
    // Known before it is connected: the reason why it is not is the engine's.
    engine = opened
    await opened.ready()
    return question(opened)
  })
  try {
    return await withDeadline(answered, deadline)
  } catch (error) {
    throw questionError(error, engine)
  }
}
