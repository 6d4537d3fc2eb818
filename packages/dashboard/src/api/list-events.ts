import type { DeadLetter, Inbox } from '@ackhook/core'
import { type BrowsedEvent, eventKey } from '@ackhook/core/spi'
import type { ResolvedDashboard } from '../options/options.ts'
import { shorten } from '../options/shorten.ts'
import { ApiProblem } from '../protocol/problem.ts'
import type { EventPage, EventRow, LetterFilter } from '../protocol/protocol.ts'

const MAX_LIMIT = 200
const MAX_REASON = 8192

export interface ListQuery extends LetterFilter {
  readonly state: 'pending' | 'active' | 'dead'
  readonly order?: 'oldest' | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** One page of events in a state, with the filters that the inbox can serve. */
export async function listEvents(parts: ResolvedDashboard, query: ListQuery): Promise<EventPage> {
  const limit = Math.max(1, Math.min(query.limit ?? 100, MAX_LIMIT))
  const rows = await pageOf(parts.inbox, query, limit)
  const next = query.id === undefined ? await nextOf(parts.inbox, query, rows, limit) : undefined
  return { events: rows.map(row => toRow(row, parts)), ...(next !== undefined && { next }) }
}

/** A page may end early, where its letters are large: only an empty one says that there are no more. */
async function nextOf(
  inbox: Inbox,
  query: ListQuery,
  rows: readonly Pick<DeadLetter, 'cursor'>[],
  limit: number,
): Promise<string | undefined> {
  const after = rows.at(-1)?.cursor
  if (after === undefined || rows.length >= limit) return after
  return (await pageOf(inbox, { ...query, after }, 1)).length > 0 ? after : undefined
}

/** Without the body: that is of the page of one letter. */
export function toRow(event: BrowsedEvent | DeadLetter, { redact }: ResolvedDashboard): EventRow {
  const { key, namespace, id, type, receivedAt, attempts, failedAt, reason } = event
  return {
    key,
    namespace,
    id,
    type,
    receivedAt,
    attempts,
    ...(failedAt !== undefined && { failedAt }),
    ...(reason !== undefined && { reason: shorten(redact(reason, { id, type, namespace }), MAX_REASON) }),
    ...('dueInMs' in event && event.dueInMs !== undefined && { dueInMs: event.dueInMs }),
  }
}

async function pageOf(
  inbox: Inbox,
  { state, type, text, id, namespace = '', order, after }: ListQuery,
  limit: number,
): Promise<readonly (BrowsedEvent | DeadLetter)[]> {
  const page = { limit, ...(after !== undefined && { after }) }
  const key = id === undefined ? undefined : await eventKey(namespace, id)
  const { states = [], filters = [] } = inbox.browsing ?? {}
  // Every inbox lists its dead letters and finds one by its key.
  if (state === 'dead' && type === undefined && text === undefined) {
    if (key === undefined) {
      // Without their bodies, where the inbox can.
      if (order === undefined && inbox.browse !== undefined && states.includes(state))
        return inbox.browse({ ...page, state })
      return inbox.deadLetters.list({ ...page, order: order ?? 'newest' })
    }
    const letter = await inbox.deadLetters.get(key)
    return letter === undefined ? [] : [letter]
  }
  if (order !== undefined) throw new ApiProblem(400, 'unsupported', 'Oldest first goes without filters.')
  if (inbox.browse === undefined || !states.includes(state)) throw unsupported(`the state ${state}`)
  const wanted = { ...(type !== undefined && { type }), ...(text !== undefined && { text }) }
  for (const name of Object.keys(wanted) as (keyof typeof wanted)[])
    if (!filters.includes(name)) throw unsupported(`the filter ${name}`)
  return inbox.browse({ ...page, ...wanted, state, ...(key !== undefined && { key }) })
}

function unsupported(what: string): ApiProblem {
  return new ApiProblem(400, 'unsupported', `This inbox has no index for ${what}.`)
}
