import { describeError } from '@ackhook/core'
import type { Engine } from './engine.ts'

const AGAIN_MS = 50
/** What ioredis says of a command whose connection to a server is lost, or is being made again. */
const LOST = /^MaxRetriesPerRequestError|Stream isn't writeable/

/**
 * Who may not write, or finds other tables, is told at the start and not by every delivery. Nothing has this id. A
 * connection that is lost meanwhile, as where a process is held up while it boots, says nothing: there will be another.
 */
export async function askToWrite({ discard }: Pick<Engine, 'discard'>, forMs: number): Promise<void> {
  const endsAt = performance.now() + forMs
  for (;;) {
    try {
      await discard('none')
      return
    } catch (error) {
      if (performance.now() > endsAt || !LOST.test(describeError(error))) throw error
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS))
    }
  }
}
