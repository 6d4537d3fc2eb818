import { ConfigurationError } from '../errors/errors.ts'
import type { Inbox } from './inbox.ts'

const owners = new WeakMap<Inbox, object>()

/** An inbox serves one receiver. With two, each would complete events that only the other can handle. */
export function claimInbox(inbox: Inbox, owner: object): void {
  if (belongsToAnother(inbox, owner))
    throw new ConfigurationError('inbox', OWNED_BY_ANOTHER, { page: 'receivers' })
  owners.set(inbox, owner)
}

export function belongsToAnother(inbox: Inbox, owner: object): boolean {
  return (owners.get(inbox) ?? owner) !== owner
}

/** Called after the drain. The inbox decides whether another receiver may then use it. */
export function releaseInbox(inbox: Inbox): void {
  owners.delete(inbox)
}

export const OWNED_BY_ANOTHER =
  'it already serves another receiver, whose handlers would get these events. Create one inbox per receiver, or mount one receiver twice with webhooksOf(receiver)'
