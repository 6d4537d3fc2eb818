import { ConfigurationError } from '../errors/errors.ts'
import type { Inbox } from './inbox.ts'

const owners = new WeakMap<Inbox, object>()

/** An inbox hands its events to one receiver: with two, each would complete events of which only the other knows. */
export function takeInbox(inbox: Inbox, owner: object): void {
  if (isAnothers(inbox, owner)) throw new ConfigurationError('inbox', TAKEN)
  owners.set(inbox, owner)
}

export function isAnothers(inbox: Inbox, owner: object): boolean {
  return (owners.get(inbox) ?? owner) !== owner
}

/** After the drain: whether it can serve another receiver then is for the inbox to say. */
export function leaveInbox(inbox: Inbox): void {
  owners.delete(inbox)
}

export const TAKEN =
  'it serves another receiver already, whose handlers would get these events. Make an inbox for each receiver, or one receiver for both places: every adapter takes a receiver in the place of options'
