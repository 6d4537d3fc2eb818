import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { questionError } from './start-check.ts'

/**
 * Sends an operator's or a tool's query once the engine is connected: on Redis, an earlier call fails at once, as
 * deliveries should. Rejects with the reason, within a deadline.
 */
export async function askEngine<T>(
  openEngine: () => Promise<Engine>,
  question: (engine: Engine) => Promise<T>,
  deadline: { readonly operation: string; readonly ms: number },
): Promise<T> {
  let engine: Engine | undefined
  const answered = openEngine().then(async opened => {
    // Kept even if it never connects: it can report why.
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
