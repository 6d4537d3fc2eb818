import { platform } from '#platform'
import { CANNOT_QUEUE, createScheduler } from '#scheduler'
import { ConfigurationError } from '../../errors/errors.ts'
import type { Duration } from '../../errors/parse-duration.ts'
import { refuseNull, refuseUnknownNames } from '../../lib/check-option.ts'
import { copyBody } from '../../lib/copy-body.ts'
import { durationMs } from '../../lib/duration.ts'
import { type DedupeStore, isStore } from '../dedupe-store.ts'
import { PauseLog } from '../handling.ts'
import type { Inbox, InboxStats, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import { OWNED_BY_ANOTHER } from '../inbox-owner.ts'
import { RecordRetries } from '../record-retries.ts'
import { accept, redrive } from './accepting.ts'
import { BROWSING, browse } from './browsing.ts'
import { applyResult, beginAttempt, giveBackPaused, loseLease, MinuteCounts } from './completion.ts'
import { DeadLetterList } from './dead-letter-list.ts'
import { drain, reportLoss } from './draining.ts'
import type { Entry } from './entry.ts'
import { GuardedStore } from './guarded-store.ts'
import { LeaseRenewal } from './lease-renewal.ts'
import { controlOf, Pauses } from './pauses.ts'
import { SeenIds } from './seen-ids.ts'
import type { State } from './state.ts'

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
  const parts = { ...resolveOptions(options), deadLetters, minutes, pauses }
  let state: State | undefined
  let pauseLog: PauseLog | undefined
  const pausesChanged = (): void => {
    pauseLog?.see(pauses.list())
    if (state === undefined) return
    giveBackPaused(state)
    state.scheduler.resumed?.()
  }

  return {
    ...(CANNOT_QUEUE === undefined
      ? { handling: controlOf(pauses, pausesChanged), sharesSlots: true as const }
      : { cannotPause: CANNOT_QUEUE, cannotShareSlots: CANNOT_QUEUE }),
    accept(delivery) {
      if (state === undefined) throw new ConfigurationError('inbox', NOT_STARTED)
      if (state.isDraining) return { outcome: 'unavailable', code: 'inbox_unavailable', cause: CLOSED }
      return accept(state, delivery)
    },
    async start(run, policy) {
      // Checked here too: two copies of this library cannot see each other's receivers.
      if (state !== undefined)
        throw new ConfigurationError('inbox', state.isDraining ? CLOSED : OWNED_BY_ANOTHER)
      state = createState(parts, run, policy)
      try {
        await state.store.start(notice => {
          policy.observe({ kind: 'notice', ...notice })
          policy.logger.warn({ code: notice.code }, notice.message)
        })
      } catch (error) {
        state.stopWatchingExit()
        // The store may be back when the receiver tries again.
        state = undefined
        throw error
      }
      pauseLog = new PauseLog({ logger: policy.logger, observe: policy.observe, resumeBy })
      pauseLog.see(pauses.list())
    },
    close: async timeoutMs => (state === undefined ? { lost: 0 } : drain(state, timeoutMs)),
    stats: () => ({ ...statsOf(state), dead: deadLetters.size, ...pausesOf(pauses) }),
    deadLetters: {
      list: query => deadLetters.list(query).map(copyBody),
      get: key => deadLetters.get(key),
      redrive: async key => state !== undefined && redrive(state, key),
      discard: key => deadLetters.remove(key),
    },
    // Unfinished events are not handled yet, and keep their lease.
    forget: key => state?.entries.get(key) === undefined && (state?.store ?? parts.ids).forget(key),
    browse: query => browse(query, state?.entries.values() ?? [], deadLetters),
    browsing: BROWSING,
    throughput: () => minutes.list(),
    processes: () =>
      state?.policy.handlers === undefined ? [] : [{ ...state.policy.handlers.published, seenMs: 0 }],
  }
}

/** Parts of an inbox before it starts. */
interface Parts extends Pick<State, 'deadLetters' | 'minutes' | 'pauses'> {
  readonly leaseMs: number
  /** The inbox's own ids, or the user's store. */
  readonly ids: DedupeStore | SeenIds
}

/** No command reaches this process's memory. */
function resumeBy(type: string | undefined): string {
  return `inbox.handling.resume(${type === undefined ? '' : `'${type}'`})`
}

const NOT_STARTED = 'start() must come before the first event'
const CLOSED = 'it was closed with its receiver: create a new inbox for each receiver'

function resolveOptions(options: MemoryInboxOptions): Pick<Parts, 'ids' | 'leaseMs'> {
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

function createState(parts: Parts, run: ProcessEvent, policy: ProcessingPolicy): State {
  const { ids, leaseMs, deadLetters, minutes, pauses } = parts
  const store = ids instanceof SeenIds ? ids : new GuardedStore(ids, policy.observe)
  const onLost = (entry: Entry): void => loseLease(state, entry)
  const entries = new Map<string, Entry>()
  const state: State = {
    run,
    policy,
    store,
    scheduler: createScheduler({
      policy,
      pauses,
      run: entry => beginAttempt(state, entry),
      apply(result, entry) {
        try {
          applyResult(state, result, entry)
        } catch (err) {
          policy.logger.error({ err, event: entry.delivery.id }, "An attempt's result could not be applied.")
        }
      },
    }),
    leases: store instanceof SeenIds ? undefined : new LeaseRenewal({ entries, store, leaseMs, onLost }),
    recordRetries: new RecordRetries(),
    deadLetters,
    minutes,
    pauses,
    sequence: 0,
    entries,
    weight: 0,
    limit: { lastStartAt: undefined },
    freezingHost: policy.acknowledge === 'immediately' ? platform.freezingHost() : undefined,
    stopWatchingExit: platform.onExit(() => reportLoss(state)),
    isDraining: false,
    lost: [],
    onIdle: undefined,
  }
  return state
}

function statsOf(state: State | undefined): Omit<InboxStats, 'dead'> {
  if (state === undefined)
    return { pending: 0, active: 0, oldestPendingMs: 0, retrying: 0, oldestUntriedMs: 0 }
  const { entries, scheduler } = state
  const { active } = scheduler
  const oldest = entries.values().next().value
  return {
    // `onError` or `onDeadLetter` may still run for an event that is finished.
    pending: Math.max(0, entries.size - active),
    active,
    oldestPendingMs: oldest === undefined ? 0 : performance.now() - oldest.acceptedAt,
    ...waitsOf(entries.values(), state.pauses),
  }
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
