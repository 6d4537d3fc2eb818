import { CANNOT_QUEUE } from '#scheduler'
import { ConfigurationError } from '../../errors/errors.ts'
import type { Duration } from '../../errors/parse-duration.ts'
import { refuseNull, refuseUnknownNames } from '../../lib/check-option.ts'
import { copyBody } from '../../lib/copy-body.ts'
import { durationMs } from '../../lib/duration.ts'
import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import type { EventLookup } from '../browse.ts'
import { type DedupeStore, isStore, type StoredId } from '../dedupe-store.ts'
import { PauseLog } from '../handling.ts'
import type { Inbox, InboxStats } from '../inbox.ts'
import { OWNED_BY_ANOTHER } from '../inbox-owner.ts'
import { ActivityInMemory } from './activity-in-memory.ts'
import { BROWSING, browse, findHere } from './browsing.ts'
import { DeadLetterList } from './dead-letter-list.ts'
import type { Entry } from './entry.ts'
import { EventsInMemory } from './events-in-memory.ts'
import { GuardedStore } from './guarded-store.ts'
import { MinuteCounts } from './minute-counts.ts'
import { controlOf, Pauses } from './pauses.ts'
import { SeenIds } from './seen-ids.ts'

/** Options of {@link memoryInbox}. */
export interface MemoryInboxOptions {
  /**
   * Store of handled ids. Default: this process's memory, bounded like `memoryStore()`. `redisStore` shares the ids
   * among processes.
   */
  readonly store?: DedupeStore | undefined
  /**
   * Duration of a claim without renewal, and so how long other processes refuse an event whose process crashed. The
   * claim is renewed three times within this time while the event waits or runs. Default `'60s'`.
   */
  readonly lease?: Duration | undefined
}

/**
 * Default inbox, in this process's memory. If the process dies, events that were acknowledged but not handled are lost:
 * the sender does not repeat them. `acknowledge: 'after-processing'` or a durable inbox loses nothing.
 *
 * @example
 * createReceiver({ secret, inbox: memoryInbox({ lease: '20s' }) })
 */
export function memoryInbox(options: MemoryInboxOptions = {}): Inbox {
  const deadLetters = new DeadLetterList()
  const minutes = new MinuteCounts()
  const pauses = new Pauses()
  const activity = new ActivityInMemory()
  const { ids, leaseMs } = resolveOptions(options)
  let events: EventsInMemory | undefined
  let pauseLog: PauseLog | undefined
  const pausesChanged = (): void => {
    pauseLog?.see(pauses.list())
    events?.pausesChanged()
  }

  return {
    ...abilitiesOf({ handling: controlOf(pauses, pausesChanged), activity }),
    accept(delivery) {
      if (events === undefined) throw new ConfigurationError('inbox', NOT_STARTED)
      if (events.isDraining) return { outcome: 'unavailable', code: 'inbox_unavailable', cause: CLOSED }
      return events.accept(delivery)
    },
    async start(run, policy) {
      // Checked here too: two copies of this library cannot see each other's receivers.
      if (events !== undefined)
        throw new ConfigurationError('inbox', events.isDraining ? CLOSED : OWNED_BY_ANOTHER)
      const store = ids instanceof SeenIds ? ids : new GuardedStore(ids, policy.observe)
      const started = new EventsInMemory({ run, policy, store, leaseMs, deadLetters, minutes, pauses })
      events = started
      try {
        await store.start(notice => {
          policy.observe({ kind: 'notice', ...notice })
          policy.logger.warn({ code: notice.code }, notice.message)
        })
      } catch (error) {
        started.stopWatchingExit()
        // The store may be back when the receiver tries again.
        events = undefined
        throw error
      }
      pauseLog = new PauseLog({ logger: policy.logger, observe: policy.observe, resumeBy })
      pauseLog.see(pauses.list())
      if (CANNOT_QUEUE === undefined) activity.begin(policy.activity)
    },
    async close(timeoutMs) {
      const report = await events?.drain(timeoutMs)
      await activity.end()
      return report ?? { lost: 0 }
    },
    stats: () => ({ ...statsOf(events, pauses), dead: deadLetters.size, ...pausesOf(pauses) }),
    deadLetters: lettersOf(deadLetters, () => events),
    forget: key => (events ?? ids).forget(key),
    ...lookupOf(ids, deadLetters, () => events),
    browse: query => browse(query, events?.entries() ?? [], deadLetters),
    browsing: BROWSING,
    throughput: () => minutes.list(),
    processes: () => (events?.handlers === undefined ? [] : [{ ...events.handlers.published, seenMs: 0 }]),
  }
}

const CANNOT_KEEP =
  'on this runtime a process lasts only for its requests, and has nowhere to keep figures: observe them with @ackhook/opentelemetry'

/** Parts of an inbox that need a process which outlives a request. */
function abilitiesOf(parts: Required<Pick<Inbox, 'handling' | 'activity'>>): Partial<Inbox> {
  if (CANNOT_QUEUE === undefined) return { ...parts, sharesSlots: true }
  return { cannotPause: CANNOT_QUEUE, cannotShareSlots: CANNOT_QUEUE, cannotKeepActivity: CANNOT_KEEP }
}

function lettersOf(letters: DeadLetterList, started: () => EventsInMemory | undefined): Inbox['deadLetters'] {
  return {
    list: query => letters.list(query).map(copyBody),
    groups: options => letters.groups(options),
    get: key => letters.get(key),
    redrive: async key => started()?.redrive(key) ?? false,
    discard: key => letters.remove(key),
  }
}

const NO_LOOKUP =
  "the store has no 'lookup', so an id that is handled cannot be told from one that never came: memoryStore, redisStore and sqlStore have it"

function lookupOf(
  store: DedupeStore | SeenIds,
  deadLetters: DeadLetterList,
  started: () => EventsInMemory | undefined,
): Pick<Inbox, 'lookup' | 'cannotLookUp'> {
  if (store.lookup === undefined) return { cannotLookUp: NO_LOOKUP }
  const stored = (key: string): MaybePromise<StoredId> =>
    started()?.stored(key) ?? store.lookup?.(key) ?? { state: 'unknown' }
  return { lookup: key => lookUp(key, started(), deadLetters, stored) }
}

/** This process's events come first: what they leave to the store has ended, or is another process's. */
function lookUp(
  key: string,
  events: EventsInMemory | undefined,
  deadLetters: DeadLetterList,
  storedOf: (key: string) => MaybePromise<StoredId>,
): MaybePromise<EventLookup> {
  const here = findHere(key, events?.entry(key), deadLetters)
  if (here !== undefined) return here
  const toLookup = (stored: StoredId): EventLookup => {
    if (stored.state === 'unknown') return findHere(key, events?.entry(key), deadLetters) ?? stored
    if (stored.state === 'claimed') return { state: 'active' }
    const rememberedUntil = Math.round(Date.now() + stored.leftMs)
    if (events === undefined) return { state: 'handled', rememberedUntil }
    return { state: 'handled', handledAt: rememberedUntil - events.retentionMs, rememberedUntil }
  }
  const stored = storedOf(key)
  return isPromise(stored) ? stored.then(toLookup) : toLookup(stored)
}

/** No command reaches this process's memory. */
function resumeBy(type: string | undefined): string {
  return `inbox.handling.resume(${type === undefined ? '' : `'${type}'`})`
}

const NOT_STARTED = 'start() must come before the first event'
const CLOSED = 'it was closed with its receiver: create a new inbox for each receiver'

function resolveOptions(options: MemoryInboxOptions): {
  /** The inbox's own ids, or the user's store. */
  readonly ids: DedupeStore | SeenIds
  readonly leaseMs: number
} {
  if (isStore(options))
    throw new ConfigurationError('store', 'this is a store: write memoryInbox({ store })', {
      page: 'inbox-and-store',
    })
  refuseUnknownNames(options, ['store', 'lease'])
  refuseNull(options)
  const { store } = options
  for (const method of ['claim', 'extend', 'complete', 'release', 'forget'] as const) {
    if (store === undefined || typeof store[method] === 'function') continue
    throw new ConfigurationError(
      'store',
      `must be a dedupe store such as memoryStore() or redisStore(client); it has no '${method}'`,
    )
  }
  const leaseMs = durationMs(options.lease ?? '60s', { option: 'lease', minMs: 1000, maxMs: 3_600_000 })
  return { ids: store ?? new SeenIds(), leaseMs }
}

function statsOf(events: EventsInMemory | undefined, pauses: Pauses): Omit<InboxStats, 'dead'> {
  if (events === undefined)
    return { pending: 0, active: 0, oldestPendingMs: 0, retrying: 0, oldestUntriedMs: 0 }
  return { ...events.stats(), ...waitsOf(events.entries(), pauses) }
}

function pausesOf(pauses: Pauses): Pick<InboxStats, 'paused' | 'pausedTypes'> {
  if (!pauses.isAny) return {}
  const pausedTypes = pauses.list().flatMap(({ type }) => type ?? [])
  return { ...(pauses.coversAll && { paused: true }), ...(pausedTypes.length > 0 && { pausedTypes }) }
}

function waitsOf(entries: Iterable<Entry>, pauses: Pauses): Pick<InboxStats, 'retrying' | 'oldestUntriedMs'> {
  let retrying = 0
  let untried: Entry | undefined
  /** Keys whose first event has begun: the ones behind it wait for it, not for a slot. */
  const keys = new Set<string>()
  for (const entry of entries) {
    const key = entry.delivery.order?.key
    if (entry.retryTimer !== undefined) retrying++
    if (entry.attempts > 0 && key !== undefined) keys.add(key)
    if (pauses.isAny && pauses.covers(entry.delivery.type)) continue
    if (entry.attempts === 0 && (key === undefined || !keys.has(key))) untried ??= entry
  }
  return { retrying, oldestUntriedMs: untried === undefined ? 0 : performance.now() - untried.acceptedAt }
}
