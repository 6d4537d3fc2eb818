import type { DeadLetter, Inbox } from '@ackhook/core'
import { type BrowsedEvent, eventKey, groupOf, isSealed, readGroups, requirePattern } from '@ackhook/core/spi'
import { matchesLetter } from '../letters/letter-filter.ts'
import { traceIdIn } from '../letters/locate.ts'
import type { ResolvedDashboard } from '../options/options.ts'
import { shorten } from '../options/shorten.ts'
import {
  ApiProblem,
  type EventPage,
  type EventRow,
  type GroupList,
  type LetterFilter,
  type LetterGroup,
} from '../protocol/protocol.ts'

export const MAX_LIMIT = 200
/** Most letters that one request scans for a type or an error. */
export const MAX_SCANNED = 2000
export const MAX_REASON = 8192

export interface ListQuery extends LetterFilter {
  readonly state: 'pending' | 'active' | 'dead'
  readonly order?: 'oldest' | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** One page of events in a state, with the filters that the inbox can serve. */
export async function listEvents(parts: ResolvedDashboard, query: ListQuery): Promise<EventPage> {
  if (query.type !== undefined) requirePattern('type', query.type)
  if ((query.error ?? query.reason ?? query.group ?? query.failedBy) !== undefined && query.state !== 'dead')
    throw unsupported('errors of events that may run again')
  if (query.order !== undefined && isFiltered(query))
    throw new ApiProblem(400, 'unsupported', 'Oldest-first order cannot be combined with filters.')
  if (isScanned(query)) return scan(parts, query)
  if (query.id !== undefined) return findById(parts, query, query.id)
  const limit = Math.max(1, Math.min(query.limit ?? 100, MAX_LIMIT))
  const rows = await pageOf(parts.inbox, query, limit)
  const next = await nextOf(parts.inbox, query, rows, limit)
  return { events: rows.map(row => toRow(row, parts)), ...(next !== undefined && { next }) }
}

function isFiltered({ id, type, error, reason, group, text, namespace, failedBy }: ListQuery): boolean {
  return (id ?? type ?? error ?? reason ?? group ?? text ?? namespace ?? failedBy) !== undefined
}

/**
 * Returns whether rows must be scanned: errors and namespaces have no index, nor do types in a durable inbox.
 * Types of pending and active events are left to an index, because there may be a million of them.
 */
function isScanned({ state, id, type, error, reason, group, namespace, failedBy }: ListQuery): boolean {
  if (id !== undefined) return false
  return (
    namespace !== undefined ||
    (state === 'dead' && (type ?? error ?? reason ?? group ?? failedBy) !== undefined)
  )
}

/** Finds an event by its key; without a namespace, also scans for those with its id in other namespaces. */
async function findById(parts: ResolvedDashboard, query: ListQuery, id: string): Promise<EventPage> {
  const { state, text, namespace, after } = query
  if (after !== undefined) return scan(parts, query)
  const byKey = {
    ...{ state, id },
    ...(text !== undefined && { text }),
    ...(namespace !== undefined && { namespace }),
  }
  const rows = await pageOf(parts.inbox, byKey, 1)
  const events = rows.map(row => toRow(row, parts)).filter(row => isWanted(query, row))
  if (namespace !== undefined) return { events }
  const others = await scan(parts, query)
  return { ...others, events: [...events, ...others.events] }
}

/** Scans the events from the newest on. A page may be empty without being the last. */
async function scan(parts: ResolvedDashboard, query: ListQuery): Promise<EventPage> {
  const { limit = MAX_LIMIT, ...wanted } = query
  const { state, text, type, id, group } = wanted
  // The type of letters is compared here, because only some inboxes have an index for it.
  const hasIndex = state !== 'dead' && id === undefined && type !== undefined
  const indexed = {
    state,
    ...(text !== undefined && { text }),
    ...(hasIndex && { type }),
    ...(group !== undefined && text === undefined && { group }),
  }
  const events: EventRow[] = []
  let { after } = query
  for (let scanned = 0; scanned < MAX_SCANNED; ) {
    const rows = await pageOf(parts.inbox, { ...indexed, after }, MAX_LIMIT)
    if (rows.length === 0) return { events }
    scanned += rows.length
    for (const row of rows) {
      after = row.cursor
      const shown = plainRow(row, parts)
      // An event with this id outside any namespace was found by its key.
      if (!isWanted(wanted, shown) || (id !== undefined && shown.namespace === '')) continue
      if (group !== undefined && groupOf({ reason: '', ...row }) !== group) continue
      events.push({ ...shown, ...groupIn(row) })
      if (events.length >= limit) return { events, next: row.cursor }
    }
  }
  return { events, ...(after !== undefined && { next: after }) }
}

/** Compares a filter with what the page shows: it must not tell what `redact` hides. */
function isWanted({ id, namespace, type, error, reason = '', failedBy }: ListQuery, row: EventRow): boolean {
  if (failedBy !== undefined && (row.failedAt ?? 0) > failedBy) return false
  if (namespace !== undefined && row.namespace !== namespace) return false
  if (!(row.reason ?? '').toLowerCase().includes(reason.toLowerCase())) return false
  return (id === undefined || row.id === id) && matchesLetter({ type, error }, row)
}

/** Counts dead letters by the kind of their error. The groups are those of the errors as they are: only the text is redacted. */
export async function groupLetters({ inbox, activity, redact }: ResolvedDashboard): Promise<GroupList> {
  const { groups, counted, isPartial } = await readGroups(inbox.deadLetters)
  const shown = groups.map(({ sample, type, ...group }): LetterGroup => {
    const { key, namespace, id, reason, stack = activity?.stackOf(sample) } = sample
    const redacted = (text: string) => shorten(redact(text, { id, type, namespace }), MAX_REASON)
    return {
      ...{ ...group, type, key, namespace, id },
      reason: redacted(reason),
      ...(stack !== undefined && { stack: redacted(stack) }),
    }
  })
  return { groups: shown, counted, ...(isPartial && { isPartial }) }
}

/** Returns the next cursor. A page of large letters may end early, so only an empty page means the end. */
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

/** Omits the body, which only a letter's own page shows. */
export function toRow(event: BrowsedEvent | DeadLetter, parts: Pick<ResolvedDashboard, 'redact'>): EventRow {
  return { ...plainRow(event, parts), ...groupIn(event) }
}

/** Returns the group of a dead letter: that of its error as it is, not as shown. */
export function groupIn(event: BrowsedEvent | DeadLetter): Pick<EventRow, 'group'> {
  return event.failedAt === undefined ? {} : { group: groupOf({ reason: '', ...event }) }
}

function plainRow(
  event: BrowsedEvent | DeadLetter,
  { redact }: Pick<ResolvedDashboard, 'redact'>,
): Omit<EventRow, 'group'> {
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
    ...(isSealed(event) && { sealed: true as const }),
    ...('dueInMs' in event && event.dueInMs !== undefined && { dueInMs: event.dueInMs }),
    ...traceIdIn(event),
  }
}

export async function pageOf(
  inbox: Inbox,
  { state, type, text, id, group, namespace = '', order, after }: ListQuery,
  limit: number,
): Promise<readonly (BrowsedEvent | DeadLetter)[]> {
  const page = { limit, ...(after !== undefined && { after }) }
  const key = id === undefined ? undefined : await eventKey(namespace, id)
  const { states = [], filters = [] } = inbox.browsing ?? {}
  // Every inbox can list its dead letters and find one by its key.
  if (state === 'dead' && type === undefined && text === undefined) {
    if (key === undefined) {
      if (group !== undefined) return inbox.deadLetters.list({ ...page, group })
      // Omits their bodies if the inbox can.
      if (order === undefined && inbox.browse !== undefined && states.includes(state))
        return inbox.browse({ ...page, state })
      return inbox.deadLetters.list({ ...page, order: order ?? 'newest' })
    }
    const letter = await inbox.deadLetters.get(key)
    return letter === undefined ? [] : [letter]
  }
  if (inbox.browse === undefined || !states.includes(state)) throw unsupported(`the state ${state}`)
  const wanted = { ...(type !== undefined && { type }), ...(text !== undefined && { text }) }
  for (const name of Object.keys(wanted) as (keyof typeof wanted)[])
    if (!filters.includes(name)) throw unsupported(`the filter ${name}`)
  return inbox.browse({ ...page, ...wanted, state, ...(key !== undefined && { key }) })
}

function unsupported(what: string): ApiProblem {
  return new ApiProblem(400, 'unsupported', `This inbox has no index for ${what}.`)
}
