import type { DeadLetter, Inbox } from '@ackhook/core'
import { type BrowsedEvent, groupOf, traceContext } from '@ackhook/core/spi'
import type { Whereabouts } from '../protocol/protocol.ts'

/** Where an event is, with the event itself if it waits or is dead. */
export interface Located {
  readonly where: Whereabouts
  readonly event?: BrowsedEvent | DeadLetter | undefined
}

/** Tells where one event is, as far as the inbox can. */
export async function locate(inbox: Inbox, key: string): Promise<Located> {
  if (inbox.lookup !== undefined) {
    const found = await inbox.lookup(key)
    if (found.state === 'handled' || found.state === 'unknown') return { where: found }
    return found.event === undefined ? { where: { state: found.state } } : locatedAt(found.state, found.event)
  }
  // Looks twice: an event that changes state between two queries is found in neither.
  for (const _round of [1, 2]) {
    const letter = await inbox.deadLetters.get(key)
    if (letter !== undefined) return locatedAt('dead', letter)
    if (inbox.browse === undefined) return { where: { state: 'unclear' } }
    // Includes states that the inbox cannot list: it finds a single event by its key anyway.
    for (const state of ['pending', 'active'] as const) {
      const [event] = await inbox.browse({ state, key })
      if (event !== undefined) return locatedAt(state, event)
    }
  }
  return { where: { state: 'gone' } }
}

function locatedAt(state: 'pending' | 'active' | 'dead', event: BrowsedEvent | DeadLetter): Located {
  const { reason, attempts } = event
  // An active event counts the attempt that runs.
  const isRetrying = state !== 'dead' && attempts > (state === 'active' ? 1 : 0)
  const hasFailed = state === 'dead' || (isRetrying && reason !== undefined)
  const where = {
    state,
    ...(isRetrying && { isRetrying }),
    ...traceIdIn(event),
    ...(hasFailed && { group: groupOf({ reason: '', ...event }) }),
  }
  return { where, event }
}

/** Returns the id of an event's trace. */
export function traceIdIn({ trace }: Pick<BrowsedEvent, 'trace'>): { readonly traceId?: string } {
  const [, traceId] = traceContext(trace?.traceparent)?.traceparent.split('-') ?? []
  return traceId === undefined ? {} : { traceId }
}
