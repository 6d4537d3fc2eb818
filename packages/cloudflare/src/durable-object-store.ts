import { ConfigurationError, type DedupeStore } from '@ackhook/core'
import { type Claim, earlierVersion, refuseUnknownNames, type StoredId, wholeNumber } from '@ackhook/core/spi'
import type { EventIdsBinding, EventIdsStub } from './bindings.ts'
import { type Ask, HAS_EARLIER_IDS } from './event-ids.ts'

/** Options of {@link durableObjectStore}. */
export interface DurableObjectStoreOptions {
  /**
   * Number of objects that share the ids. Each serves several hundred calls a second, and an event takes two or three.
   * After a change, ids are looked up in other objects: events handled before are not recognized. Default 16, at most 1024.
   */
  readonly shards?: number | undefined
}

/**
 * Creates a store of handled ids in Durable Objects of the class `EventIds`, shared by every Worker that binds the class.
 * Each call is one atomic step of one object, by its machine's clock. A failed call rejects, and the event waits.
 *
 * Throws `ConfigurationError` for a wrong binding or option.
 *
 * @example
 * import { env } from 'cloudflare:workers'
 *
 * cloudflareQueueInbox(env.EVENTS, { store: durableObjectStore(env.EVENT_IDS), deadLetters: env.DEAD_LETTERS })
 */
export function durableObjectStore(
  namespace: EventIdsBinding,
  options: DurableObjectStoreOptions = {},
): DedupeStore {
  if (typeof namespace?.idFromName !== 'function')
    throw new ConfigurationError('namespace', NO_BINDING, { page: 'cloudflare-bindings' })
  refuseUnknownNames(options, ['shards'])
  const shards = wholeNumber('shards', options.shards ?? 16, 1, 1024)
  async function ask<Answer>(question: Ask): Promise<Answer> {
    const stub: EventIdsStub = namespace.get(
      namespace.idFromName(`ids-${shardOf(question.key, shards)}`) as never,
    )
    const reply = await stub.fetch(ADDRESS, { method: 'POST', body: JSON.stringify(question) })
    if (reply.status === HAS_EARLIER_IDS) throw hasEarlierIds()
    if (reply.status !== 200) throw new Error(`EventIds returned ${reply.status}`)
    return (await reply.json()) as Answer
  }
  return {
    countsRuns: true,
    claim: (key, token, { leaseMs, fingerprint, countForMs }) =>
      ask<Claim>({ call: 'claim', key, token, leaseMs, fingerprint, countForMs }),
    extend: (key, token, leaseMs) => ask<boolean>({ call: 'extend', key, token, leaseMs }),
    complete: (key, token, { retentionMs, fingerprint }) =>
      ask<boolean>({ call: 'complete', key, token, retentionMs, fingerprint }),
    release: (key, token, kept) => ask<boolean>({ call: 'release', key, token, kept }),
    forget: key => ask<boolean>({ call: 'forget', key }),
    lookup: key => ask<StoredId>({ call: 'lookup', key }),
  }
}

/** Address that a stub needs but does not resolve. */
const ADDRESS = 'https://event-ids/'
const NO_BINDING =
  'must be the binding of the class EventIds, such as env.EVENT_IDS: name it under durable_objects.bindings and migrations of wrangler.jsonc, and export the class from the main module'

function hasEarlierIds(): Error {
  return earlierVersion('There are ids in a Durable Object of EventIds', {
    code: 'store_unavailable',
    let: 'run until they have expired, or bind a new class',
  })
}

function shardOf(key: string, shards: number): number {
  let hash = 0
  for (let i = 0; i < key.length; i++) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) >>> 0
  return hash % shards
}
