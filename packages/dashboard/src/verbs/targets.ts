import type { Inbox } from '@ackhook/core'
import { eventKey } from '@ackhook/core/spi'
import { inLanes } from '../letters/in-lanes.ts'
import {
  type EventHead,
  headOf,
  type ListQuery,
  listEvents,
  MAX_LIMIT,
  type View,
} from '../letters/list-letters.ts'
import type { Words } from '../protocol/words.ts'

/** An event to change, as far as it is known. */
export type Target = Pick<EventHead, 'key' | 'id' | 'namespace'> &
  Partial<Pick<EventHead, 'type' | 'group' | 'failedAt'>>

/** An event that was asked for, or the reason why there is none. */
export type Found =
  | { readonly id: string; readonly target: Target }
  | { readonly id: string; readonly refusal: Words }

/** Some of the events to change. */
export interface Reading {
  readonly found: readonly Found[]
  /** Position of the next ones; absent for the last. */
  readonly next?: string | undefined
}

/** Reads the events to change, from a position on. May be repeated if it fails. */
export type Read = (after: string | undefined) => Promise<Reading>

const AT_ONCE = 100

/** Reads dead letters that match, from the newest on. One that is redriven and fails again becomes the newest: no later page has it. */
export function matching(view: View, query: Omit<ListQuery, 'state' | 'after' | 'limit'>): Read {
  return async after => {
    const { events, next } = await listEvents(view, { ...query, state: 'dead', after, limit: MAX_LIMIT })
    return { found: events.map(target => ({ id: target.id, target: lean(target) })), next }
  }
}

/** Reads dead letters by their keys. Those that failed after `failedBy` are left out. */
export function withKeys(
  view: View,
  keys: readonly string[],
  failedBy: number = Number.POSITIVE_INFINITY,
): Read {
  return async after => {
    const at = Number(after ?? 0)
    const found = await inLanes(keys.slice(at, at + AT_ONCE), async (key): Promise<readonly Found[]> => {
      const head = await letterAt(view, key)
      if (head === undefined) return [{ id: key, refusal: NO_LETTER }]
      return (head.failedAt ?? 0) > failedBy ? [] : [{ id: head.id, target: head }]
    })
    const next = at + AT_ONCE
    return { found: found.flat(), next: next < keys.length ? String(next) : undefined }
  }
}

/** Reads dead letters by their ids, in one namespace or in any. */
export function withIds(view: View, ids: readonly string[], namespace: string | undefined): Read {
  return async () => ({ found: await findLetters(view, ids, namespace) })
}

/** Reads events by their ids, wherever they are: outside any namespace unless one is given. */
export function eventsWithIds(ids: readonly string[], namespace = ''): Read {
  return async () => {
    const targets = await Promise.all(
      ids.map(async id => ({ id, namespace, key: await eventKey(namespace, id) })),
    )
    return { found: targets.map(target => ({ id: target.id, target })) }
  }
}

/**
 * Finds dead letters by id. Without `namespace`, the letter outside any namespace comes first, then that of any other
 * namespace; an id in several namespaces is refused.
 */
export async function findLetters(
  view: View,
  ids: readonly string[],
  namespace: string | undefined,
): Promise<readonly Found[]> {
  const found = await inLanes(ids, async (id): Promise<Found> => {
    const target = await letterAt(view, await eventKey(namespace ?? '', id))
    return target === undefined ? { id, refusal: noLetter(namespace) } : { id, target }
  })
  const missing = new Set(found.flatMap(one => ('refusal' in one ? one.id : [])))
  if (namespace !== undefined || missing.size === 0) return found
  const elsewhere = await findAnywhere(view, missing)
  return found.map(one => ('target' in one ? one : choose(one, elsewhere.get(one.id))))
}

async function letterAt(view: View, key: string): Promise<Target | undefined> {
  const letter = await view.inbox.deadLetters.get(key)
  return letter && lean(headOf(letter, view, true))
}

/** Errors may be long, and thousands of letters be held. */
function lean({ key, id, type, namespace, group, failedAt }: EventHead): Target {
  return {
    ...{ key, id, type, namespace },
    ...(group !== undefined && { group }),
    ...(failedAt !== undefined && { failedAt }),
  }
}

async function findAnywhere(
  view: View,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly Target[]>> {
  const found = new Map<string, readonly Target[]>()
  for (let after: string | undefined; ; ) {
    const { events, next } = await listEvents(view, { state: 'dead', after, limit: MAX_LIMIT })
    for (const head of events) {
      if (!ids.has(head.id)) continue
      const known = found.get(head.id) ?? []
      // A letter that fails again meanwhile may be listed twice.
      if (!known.some(({ key }) => key === head.key)) found.set(head.id, [...known, lean(head)])
    }
    if (next === undefined) return found
    after = next
  }
}

function choose(missing: Found, elsewhere: readonly Target[] = []): Found {
  const { id } = missing
  const [target, ...others] = elsewhere
  if (target === undefined) return missing
  if (others.length === 0) return { id, target }
  const names = elsewhere.map(({ namespace }) => namespace).join(', ')
  return { id, refusal: ['in several namespaces, so add ', { field: 'namespace' }, ` with one of ${names}`] }
}

const NO_LETTER = 'no such dead letter'

export function noLetter(namespace = ''): string {
  return `${NO_LETTER}${inNamespace(namespace)}`
}

/** Names a namespace at the end of a sentence. */
export function inNamespace(namespace: string): string {
  return namespace === '' ? '' : ` in namespace ${namespace}`
}

export async function isDead(inbox: Inbox, key: string): Promise<boolean> {
  return (await inbox.deadLetters.get(key)) !== undefined
}
