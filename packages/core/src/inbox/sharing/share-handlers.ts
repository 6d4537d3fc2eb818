import type { ProcessingPolicy } from '../inbox.ts'
import type { PresenceStore } from '../presence.ts'
import { PolledDirectory } from './polled-directory.ts'

/**
 * Shares this process's handlers with the others on its inbox: an event waits for the process that handles its type
 * most specifically. Await it in `start`, once the engine can be used and before taking the first event: it publishes
 * this process's handlers and reads the others'. From then on core renews and reads by itself until `close` has
 * settled. Rejects if the board does, and may then be called again. Does nothing in a process that only receives.
 */
export async function shareHandlers(
  board: PresenceStore,
  policy: Pick<ProcessingPolicy, 'handlers' | 'capacity' | 'observe' | 'logger'>,
): Promise<void> {
  const { handlers } = policy
  await handlers?.share(new PolledDirectory(board, handlers, policy))
}
