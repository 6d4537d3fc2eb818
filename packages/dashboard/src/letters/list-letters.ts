import type { DeadLetter, Inbox } from '@ackhook/core'
import { type BrowsedEvent, eventKey, groupOf, isSealed, requirePattern } from '@ackhook/core/spi'
import type { LetterFilter } from '../protocol/protocol.ts'
import { Refused } from '../protocol/refused.ts'
import { matchesLetter } from './letter-filter.ts'
import { shorten } from './shorten.ts'

export const MAX_LIMIT = 200
/** Most letters that one call scans for a type or an error. */
export const MAX_SCANNED = 2000
export const MAX_REASON = 8192

/** An inbox as its reader may see it. */
export interface View {
  readonly inbox: Inbox
  /** Returns the text to show instead of a body or an error text. */
  readonly redact: (
    text: string,
    event: { readonly id: string; readonly type: string; readonly namespace: string },
  ) => string
}

export interface ListQuery extends LetterFilter {
  readonly state: 'pending' | 'active' | 'dead'
  readonly order?: 'newest' | 'oldest' | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** An event without its body, and with its error as it may be shown. */
export interface EventHead extends Omit<BrowsedEvent, 'body'> {
  /** Group of a dead letter: that of its error as it is, not as shown. */
  readonly group?: string
  /** Stored sealed, and there is no key here. */
  readonly sealed?: true
}

export interface HeadPage {
  readonly events: readonly EventHead[]
  /** Position of the next page. Absent on the last one. */
  readonly next?: string
}

/** One page of events in a state, with the filters that the inbox can serve. A page may be empty without being the last. */
export async function listEvents(view: View, query: ListQuery): Promise<HeadPage> {
  if (query.type !== undefined) requirePattern('type', query.type)
  if ((query.error ?? query.reason ?? query.group ?? query.failedBy) !== undefined && query.state !== 'dead')
    throw unsupported('errors of events that may run again')
  if (query.order === 'oldest' && query.text !== undefined)
    throw new Refused('unsupported', 'Oldest-first order cannot be combined with a text.')
  if (isScanned(query)) return scan(view, query)
  if (query.id !== undefined) return findById(view, query, query.id)
  const limit = Math.max(1, Math.min(query.limit ?? 100, MAX_LIMIT))
  const rows = await pageOf(view.inbox, query, limit)
  const next = await nextOf(view.inbox, query, rows, limit)
  const events = rows.map(row => headOf(row, view, query.state === 'dead'))
  return { events, ...(next !== undefined && { next }) }
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
async function findById(view: View, query: ListQuery, id: string): Promise<HeadPage> {
  const { state, text, namespace, after } = query
  if (after !== undefined) return scan(view, query)
  const byKey = {
    ...{ state, id },
    ...(text !== undefined && { text }),
    ...(namespace !== undefined && { namespace }),
  }
  const rows = await pageOf(view.inbox, byKey, 1)
  const events = rows
    .map(row => headOf(row, view, state === 'dead'))
    .filter(head => isWanted(query, head) && isIn(query.group, head))
  if (namespace !== undefined) return { events }
  const others = await scan(view, query)
  return { ...others, events: [...events, ...others.events] }
}

/** Scans the events in their order. A page may be empty without being the last. */
async function scan(view: View, query: ListQuery): Promise<HeadPage> {
  const { limit = MAX_LIMIT, ...wanted } = query
  const { state, text, type, id, group, order } = wanted
  // The type of letters is compared here, because only some inboxes have an index for it.
  const hasIndex = state !== 'dead' && id === undefined && type !== undefined
  const indexed = {
    ...{ state, order },
    ...(text !== undefined && { text }),
    ...(hasIndex && { type }),
    ...(group !== undefined && text === undefined && { group }),
  }
  const events: EventHead[] = []
  let { after } = query
  for (let scanned = 0; scanned < MAX_SCANNED; ) {
    const rows = await pageOf(view.inbox, { ...indexed, after }, MAX_LIMIT)
    if (rows.length === 0) return { events }
    scanned += rows.length
    for (const row of rows) {
      after = row.cursor
      const shown = shownOf(row, view)
      // An event with this id outside any namespace was found by its key.
      if (!isWanted(wanted, shown) || (id !== undefined && shown.namespace === '')) continue
      const head = { ...shown, ...(state === 'dead' && { group: letterGroup(row) }) }
      if (!isIn(group, head)) continue
      events.push(head)
      if (events.length >= limit) return { events, next: row.cursor }
    }
  }
  return { events, ...(after !== undefined && { next: after }) }
}

/** Compares a filter with what the reader sees: it must not tell what `redact` hides. */
function isWanted(
  { id, namespace, type, error, reason = '', failedBy }: ListQuery,
  head: Omit<EventHead, 'group'>,
): boolean {
  if (failedBy !== undefined && (head.failedAt ?? 0) > failedBy) return false
  if (namespace !== undefined && head.namespace !== namespace) return false
  if (!(head.reason ?? '').toLowerCase().includes(reason.toLowerCase())) return false
  return (id === undefined || head.id === id) && matchesLetter({ type, error }, head)
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

function isIn(group: string | undefined, head: EventHead): boolean {
  return group === undefined || head.group === group
}

/** Omits the body, which only a letter's own page shows. */
export function headOf(
  event: BrowsedEvent | DeadLetter,
  view: Pick<View, 'redact'>,
  isDead: boolean = event.failedAt !== undefined,
): EventHead {
  return { ...shownOf(event, view), ...(isDead && { group: letterGroup(event) }) }
}

function shownOf(
  event: BrowsedEvent | DeadLetter,
  { redact }: Pick<View, 'redact'>,
): Omit<EventHead, 'group'> {
  const { body: _, reason, ...head } = event
  const { id, type, namespace } = event
  return {
    ...head,
    ...(reason !== undefined && { reason: shorten(redact(reason, { id, type, namespace }), MAX_REASON) }),
    ...(isSealed(event) && { sealed: true as const }),
  }
}

/** Returns the group of a dead letter: that of its error as it is, not as shown. */
function letterGroup(event: BrowsedEvent | DeadLetter): string {
  return groupOf({ reason: '', ...event })
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
      if (group !== undefined) return inbox.deadLetters.list({ ...page, order: order ?? 'newest', group })
      // Omits their bodies if the inbox can.
      if (order !== 'oldest' && inbox.browse !== undefined && states.includes(state))
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

function unsupported(what: string): Refused {
  return new Refused('unsupported', `This inbox has no index for ${what}.`)
}
