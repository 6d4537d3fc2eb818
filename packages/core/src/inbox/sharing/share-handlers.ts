import type { ProcessingPolicy } from '../inbox.ts'
import type { PresenceStore } from '../presence.ts'
import { PolledDirectory } from './polled-directory.ts'

/**
 * Shares what this process handles with the others on its inbox: an event waits for the process that handles its type
 * most specifically. To be awaited in `start`, once the engine can be used and before the first event is taken: it
 * publishes its own handlers and reads those of the others. From then on, until `close` has settled, core renews and
 * reads by itself. Rejects when the board does, and may then be called again. Does nothing in a process that only
 * receives.
 */
export async function shareHandlers(
  board: PresenceStore,
  policy: Pick<ProcessingPolicy, 'handlers' | 'capacity' | 'observe' | 'logger'>,
): Promise<void> {
  const { handlers } = policy
  await handlers?.share(new PolledDirectory(board, handlers, policy))
}
