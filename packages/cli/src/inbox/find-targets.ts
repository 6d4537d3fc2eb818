import type { Inbox } from '@ackhook/core'
import { eventKey, printable } from '@ackhook/core/spi'
import { type DeadTarget, deadLetterPages } from './dead-letter-pages.ts'

/** An id from the command line with its dead letter, or with the reason why it has none. */
export type Found =
  | { readonly id: string; readonly target: DeadTarget }
  | { readonly id: string; readonly refusal: string }

/**
 * Finds dead letters by id. Without `namespace`, the letter outside any namespace comes first, then that of any other
 * namespace; an id in several namespaces is refused.
 */
export async function findTargets(
  ids: readonly string[],
  namespace: string | undefined,
  inbox: Inbox,
): Promise<readonly Found[]> {
  const targets = await Promise.all(ids.map(id => targetOf(id, namespace ?? '')))
  if (namespace !== undefined) return targets.map(target => ({ id: target.id, target }))
  const missing = new Set<string>()
  for (const { key, id } of targets) if (!(await isDead(key, inbox))) missing.add(id)
  const elsewhere = missing.size === 0 ? new Map() : await findAnywhere(missing, inbox)
  return targets.map(target => choose(target, missing.has(target.id), elsewhere.get(target.id)))
}

/** Finds one dead letter by id, as {@link findTargets} does. */
export async function findTarget(id: string, namespace: string | undefined, inbox: Inbox): Promise<Found> {
  const [found] = await findTargets([id], namespace, inbox)
  return found as Found
}

export async function targetOf(id: string, namespace: string): Promise<DeadTarget> {
  return { id, namespace, key: await eventKey(namespace, id) }
}

export async function isDead(key: string, inbox: Inbox): Promise<boolean> {
  return (await inbox.deadLetters.get(key)) !== undefined
}

/** Names a namespace at the end of a sentence. */
export function inNamespace(namespace: string): string {
  return namespace === '' ? '' : ` in namespace ${printable(namespace)}`
}

async function findAnywhere(
  ids: ReadonlySet<string>,
  inbox: Inbox,
): Promise<ReadonlyMap<string, DeadTarget[]>> {
  const found = new Map<string, DeadTarget[]>()
  for await (const page of deadLetterPages(inbox)) {
    for (const { key, id, namespace } of page) {
      if (!ids.has(id)) continue
      const known = found.get(id) ?? []
      // A letter that fails again meanwhile may be listed twice.
      if (!known.some(other => other.key === key)) found.set(id, [...known, { key, id, namespace }])
    }
  }
  return found
}

function choose(target: DeadTarget, isMissing: boolean, elsewhere: readonly DeadTarget[] = []): Found {
  const { id } = target
  const [first = target, ...others] = isMissing ? elsewhere : []
  if (others.length === 0) return { id, target: first }
  const names = [first, ...others].map(({ namespace }) => printable(namespace)).join(', ')
  return { id, refusal: `in several namespaces, so add --namespace with one of ${names}` }
}
