import { withDeadline } from '@ackhook/core/spi'
import type { Engine } from './engine/engine.ts'
import { questionError } from './start-check.ts'

/** Asks a question of a person or a tool. Rejects with the reason, within a deadline. */
export async function askEngine<T>(
  openEngine: () => Promise<Engine>,
  question: (engine: Engine) => Promise<T>,
  deadline: { readonly operation: string; readonly ms: number },
): Promise<T> {
  let engine: Engine | undefined
  const answered = openEngine().then(opened => {
    engine = opened
    return question(opened)
  })
  try {
    return await withDeadline(answered, deadline)
  } catch (error) {
    throw questionError(error, engine)
  }
}
