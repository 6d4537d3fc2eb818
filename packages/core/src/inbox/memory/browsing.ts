import { covers } from '../../events/type-pattern.ts'
import { copyBody } from '../../lib/copy-body.ts'
import type { BrowsedEvent, BrowseQuery, BrowseSupport, EventLookup } from '../browse.ts'
import { type DeadLetterList, parseCursor } from './dead-letter-list.ts'
import type { Entry } from './entry.ts'

/** Supports all states and filters: events are in memory, and bounded by the capacity. */
export const BROWSING: BrowseSupport = { states: ['pending', 'active', 'dead'], filters: ['type', 'text'] }

type Browsed = BrowsedEvent & { readonly body: Uint8Array }

/** Returns one page of the events in a state. */
export function browse(
  query: BrowseQuery,
  entries: Iterable<Entry>,
  deadLetters: DeadLetterList,
): readonly BrowsedEvent[] {
  const { state, after, limit = 100 } = query
  const events = state === 'dead' ? deadLetters.all({ after }) : unfinished(entries, query)
  const found: BrowsedEvent[] = []
  for (const event of events) {
    if (found.length === limit) break
    if (matches(event, query)) found.push(shown(event, query))
  }
  return found
}

/** Finds an event that this process has: unfinished, or a dead letter. */
export function findHere(
  key: string,
  entry: Entry | undefined,
  deadLetters: DeadLetterList,
): EventLookup | undefined {
  const state = entry && stateOf(entry)
  if (entry !== undefined && state !== undefined) return { state, event: copyBody(toBrowsed(entry)) }
  const event = deadLetters.get(key)
  return event && { state: 'dead', event }
}

function* unfinished(entries: Iterable<Entry>, { state, after }: BrowseQuery): Generator<Browsed> {
  const from = parseCursor(after) ?? -1
  for (const entry of entries) {
    if (entry.sequence <= from || stateOf(entry) !== state) continue
    yield toBrowsed(entry)
  }
}

function toBrowsed({ delivery, attempts, sequence }: Entry): Browsed {
  const { key, namespace, id, type, body, receivedAt, trace } = delivery
  const event = { key, namespace, id, type, body, receivedAt, attempts, cursor: String(sequence) }
  return trace === undefined ? event : { ...event, trace }
}

/** Returns the state of an entry, or `undefined` while it is being claimed and so not accepted yet. */
function stateOf({ phase, attempt }: Entry): BrowseQuery['state'] | undefined {
  if (phase === 'claiming') return undefined
  return attempt !== undefined || phase === 'completing' ? 'active' : 'pending'
}

function matches(event: BrowsedEvent, { key, type, text }: BrowseQuery): boolean {
  if (key !== undefined && event.key !== key) return false
  if (type !== undefined && !covers(type, event.type)) return false
  if (text === undefined) return true
  const wanted = text.toLowerCase()
  return [event.id, event.type, event.namespace].some(one => one.toLowerCase().includes(wanted))
}

/** Omits the body unless the query names one event. */
function shown(event: Browsed, { key }: BrowseQuery): BrowsedEvent {
  const { body: _, ...rest } = event
  return key === undefined ? rest : copyBody(event)
}
