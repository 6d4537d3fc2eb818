import { eventKey } from '../events/event-key.ts'
import type { Inbox } from './inbox.ts'

/** What an inbox knows an event by, from namespace and id: its own {@link Inbox.keyOf}, otherwise a hash of both. */
export function keysOf({ keyOf = eventKey }: Pick<Inbox, 'keyOf'>): NonNullable<Inbox['keyOf']> {
  return keyOf
}
