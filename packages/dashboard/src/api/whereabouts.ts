import type { Inbox } from '@ackhook/core'
import { groupOf } from '@ackhook/core/spi'
import type { EventStates, Whereabouts } from '../protocol/protocol.ts'
import { inLanes } from './change-letters.ts'

/** Tells where one event is, as far as the inbox can. */
export async function whereaboutsOf(inbox: Inbox, key: string): Promise<Whereabouts> {
  if (inbox.lookup !== undefined) {
    const found = await inbox.lookup(key)
    if (found.state === 'handled' || found.state === 'unknown') return found
    const { state, event } = found
    return { state, ...(state === 'dead' && event && { group: groupOf({ reason: '', ...event }) }) }
  }
  // Looks twice: an event that changes state between two queries is found in neither.
  for (const _round of [1, 2]) {
    const letter = await inbox.deadLetters.get(key)
    if (letter !== undefined) return { state: 'dead', group: groupOf(letter) }
    if (inbox.browse === undefined) return { state: 'unclear' }
    // Includes states that the inbox cannot list: it finds a single event by its key anyway.
    for (const state of ['pending', 'active'] as const)
      if ((await inbox.browse({ state, key })).length > 0) return { state }
  }
  return { state: 'gone' }
}

/** `POST api/events/states` */
export async function statesOf(inbox: Inbox, keys: readonly string[]): Promise<EventStates> {
  const states = await inLanes(keys, key => whereaboutsOf(inbox, key))
  return { states: Object.fromEntries(keys.map((key, i) => [key, states[i]!])) }
}
