import { copyBody } from '../../lib/copy-body.ts'
import type { BrowsedEvent, BrowseQuery, BrowseSupport } from '../browse.ts'
import type { Delivery } from '../delivery.ts'
import type { Entry } from './entry.ts'
import { parseCursor } from './parse-cursor.ts'
import type { State } from './state.ts'

/** Everything is in memory, and bounded by the capacity. */
export const BROWSING: BrowseSupport = { states: ['pending', 'active', 'dead'], filters: ['type', 'text'] }

/** One page of the events in a state. */
export function browse(
  query: BrowseQuery,
  { entries, deadLetters }: { readonly entries?: State['entries'] | undefined } & Pick<State, 'deadLetters'>,
): readonly BrowsedEvent[] {
  const { state, after, limit = 100 } = query
  const found: BrowsedEvent[] = []
  if (state === 'dead') {
    for (const letter of deadLetters.list({ limit: deadLetters.size, after })) {
      if (found.length === limit) break
      if (matches(letter, query)) found.push(shown(letter, query))
    }
    return found
  }
  const from = parseCursor(after) ?? -1
  for (const entry of entries?.list() ?? []) {
    if (found.length === limit) break
    if (entry.sequence > from && stateOf(entry) === state && matches(entry.delivery, query))
      found.push(shown(eventOf(entry), query))
  }
  return found
}

/** One that is still being claimed is not accepted yet. */
function stateOf({ phase, attempt }: Entry): BrowseQuery['state'] | undefined {
  if (phase === 'claiming') return undefined
  return attempt !== undefined || phase === 'completing' ? 'active' : 'pending'
}

function matches(
  event: Pick<Delivery, 'key' | 'namespace' | 'id' | 'type'>,
  { key, type, text }: BrowseQuery,
): boolean {
  if (key !== undefined && event.key !== key) return false
  if (type !== undefined && event.type !== type) return false
  if (text === undefined) return true
  const wanted = text.toLowerCase()
  return [event.id, event.type, event.namespace].some(one => one.toLowerCase().includes(wanted))
}

function eventOf({ delivery, attempts, sequence }: Entry): BrowsedEvent & Pick<Delivery, 'body'> {
  const { key, namespace, id, type, body, receivedAt } = delivery
  return { key, namespace, id, type, body, receivedAt, attempts, cursor: String(sequence) }
}

/** Its bytes only where one event is asked for. */
function shown(event: BrowsedEvent & Pick<Delivery, 'body'>, { key }: BrowseQuery): BrowsedEvent {
  const { body: _, ...rest } = event
  return key === undefined ? rest : copyBody(event)
}
