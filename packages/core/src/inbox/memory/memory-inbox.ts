import { platform } from '#platform'
import { type AckhookError, ConfigurationError, NonRetryableError } from '../../errors/errors.ts'
import { refuseUnknownNames } from '../../lib/check-option.ts'
import { type Duration, durationMs } from '../../lib/duration.ts'
import { isPromise, type MaybePromise, orElse } from '../../lib/maybe-promise.ts'
import type { Acceptance } from '../acceptance.ts'
import { ABORT, createAttempt } from '../attempt.ts'
import { ABANDONED } from '../crash-policy.ts'
import type { Claim, DedupeStore } from '../dedupe-store.ts'
import type { Delivery } from '../delivery.ts'
import type { DrainReport, Inbox, Process, ProcessingPolicy, Verdict } from '../inbox.ts'
import { TAKEN } from '../inbox-owner.ts'
import { keepAlive } from '../keep-alive.ts'
import { askedDelayMs, comesTooLate } from '../retry.ts'
import { createCompletion, storeMark } from './completion.ts'
import { createDeadLetterShelf } from './dead-letters.ts'
import { about, type Entry, NOTHING } from './entry.ts'
import { createStoreGate, type StoreGate } from './guarded-store.ts'
import { createLeaseKeeper } from './lease-renewal.ts'
import { memoryStore } from './memory-store.ts'
import { createPerRequestScheduler } from './per-request-scheduler.ts'
import { createQueueingScheduler } from './queueing-scheduler.ts'
import type { Pump } from './scheduler.ts'

/** Options of {@link memoryInbox}. */
export interface MemoryInboxOptions {
  /** Where ids are remembered. Default {@link memoryStore}; `redisStore` shares them among processes. */
  readonly store?: DedupeStore
  /**
   * How long a claim holds without being renewed: how long an event of a crashed process is refused to the
   * others. Renewed at a third of it while the event waits or runs. Default `'60s'`.
   */
  readonly lease?: Duration
}

/** What is known only once processing starts. */
interface Running {
  readonly process: Process
  readonly policy: ProcessingPolicy
  readonly store: StoreGate
  readonly pump: Pump
  readonly complete: (entry: Entry) => void
  readonly leases: ReturnType<typeof createLeaseKeeper>
}

const createScheduler = platform.sharesTurns ? createQueueingScheduler : createPerRequestScheduler

const DUPLICATE: Acceptance = { outcome: 'duplicate' }
const CONFLICT: Acceptance = { outcome: 'duplicate', conflict: true }
const ACCEPTED: Acceptance = { outcome: 'accepted' }
const FULL: Acceptance = { outcome: 'full' }
/** While another delivery of the same event is being claimed here: that takes a second at most. */
const CLAIM_UNDER_WAY: Acceptance = { outcome: 'in_flight', retryAfterMs: 1000 }

/**
 * The inbox in this process's memory, and the default. What it acknowledged and has not handled dies with the
 * process: the sender will not repeat it. `acknowledge: 'after-processing'` or a durable inbox loses nothing.
 *
 * @example
 * createReceiver({ secret, inbox: memoryInbox({ lease: '20s' }) })
 */
export function memoryInbox(options: MemoryInboxOptions = {}): Inbox {
  refuseUnknownNames(options, ['store', 'lease'])
  const dedupe = options.store ?? memoryStore()
  for (const method of ['claim', 'extend', 'complete', 'release'] as const) {
    if (typeof dedupe[method] !== 'function') {
      throw new ConfigurationError(
        'store',
        `must be a dedupe store such as memoryStore(); it has no '${method}'`,
      )
    }
  }
  const leaseMs = durationMs(options.lease ?? '60s', { option: 'lease', minMs: 1000, maxMs: 3_600_000 })
  const entries = new Map<string, Entry>()
  const dead = createDeadLetterShelf()
  const newToken = createTokens()
  let running: Running | undefined
  let draining = false
  /** Set by the drain where retries are ours. */
  const limit: { lastStartAt: number | undefined } = { lastStartAt: undefined }
  let lost = 0
  let onIdle: (() => void) | undefined

  function accept(delivery: Delivery): MaybePromise<Acceptance> {
    const { policy, store, pump } = started()
    if (pump.overdue !== undefined)
      for (const entry of pump.overdue()) keepAlive(delivery, Promise.resolve(abandon(entry)), policy.logger)
    const known = entries.get(delivery.key)
    if (known !== undefined) {
      if (!known.acknowledged) return CLAIM_UNDER_WAY
      return known.delivery.fingerprint === delivery.fingerprint ? DUPLICATE : CONFLICT
    }
    if (entries.size >= policy.capacity) return FULL
    const entry = newEntry(delivery)
    const unplaced = pump.reserve?.(entry)
    if (unplaced !== undefined) return unplaced
    entries.set(entry.key, entry)
    try {
      // A crash from here to the acknowledgement leaves a lease that lapses; the sender's retry runs then.
      const claim = store.claim(entry.key, entry.token, { leaseMs })
      return isPromise(claim)
        ? claim.then(answer => admit(entry, answer)).catch(cause => unavailable(entry, cause))
        : admit(entry, claim)
    } catch (cause) {
      return unavailable(entry, cause)
    }
  }

  function admit(entry: Entry, claim: Claim): MaybePromise<Acceptance> {
    if (claim.outcome !== 'claimed') {
      // Settled by a drain that ended while the store was asked: the bytes to compare are gone.
      const mark = entry.phase === 'settled' ? undefined : storeMark(entry.delivery)
      settle(entry)
      if (claim.outcome === 'full') return FULL
      if (claim.outcome === 'in_flight') return claim
      if (claim.outcome !== 'completed')
        throw new TypeError('A store must answer a claim with an outcome of Claim.')
      return mark === undefined || claim.fingerprint === mark ? DUPLICATE : CONFLICT
    }
    const { policy, pump, leases } = started()
    if (entry.phase === 'settled') {
      // The drain ended while the store was asked: nobody is left to handle the event.
      void release(entry)
      return CLAIM_UNDER_WAY
    }
    const { delivery } = entry
    entry.phase = 'held'
    leases.watch(entry.acceptedAt)
    if (delivery.waitUntil !== undefined)
      keepAlive(delivery, new Promise<void>(resolve => (entry.onSettled = resolve)), policy.logger)
    dead.remove(entry.key)
    pump.push(entry)
    if (policy.acknowledge === 'after-processing') return new Promise(resolve => (entry.reply = resolve))
    // From this line on a crash loses the event: the sender hears 2xx and it is only in this process.
    entry.acknowledged = true
    return ACCEPTED
  }

  function unavailable(entry: Entry, cause: unknown): Acceptance {
    settle(entry)
    return { outcome: 'unavailable', code: 'store_unavailable', cause }
  }

  function apply(verdict: Verdict, entry: Entry): void {
    entry.attempt = undefined
    // Lost to another process, or given back by the drain: nobody waits for this verdict.
    if (entry.phase !== 'held') return
    if (verdict.outcome === 'completed') {
      entry.reply?.({ outcome: 'processed' })
      started().complete(entry)
      return
    }
    entry.delivery = forLater(entry.delivery)
    if (entry.reply !== undefined) {
      handBack(entry, verdict)
    } else if (verdict.outcome === 'retry') {
      retry(entry, verdict.delayMs)
    } else {
      if (verdict.attemptsLeft === true && !verdict.notified) lost++
      void bury(entry, verdict.error)
    }
  }

  function retry(entry: Entry, delayMs: number): void {
    const { pump } = started()
    // Decided before the drain began: what cannot wait gets its attempt now, and is told that it is the last one.
    if (comesTooLate(delayMs, limit.lastStartAt)) pump.push(entry)
    else pump.later(entry, delayMs)
  }

  /** Without an acknowledgement the event is still the sender's: it retries, and nothing of ours does. */
  function handBack(entry: Entry, verdict: Exclude<Verdict, { outcome: 'completed' }>): void {
    if (verdict.outcome === 'dead' && verdict.notified) {
      entry.reply?.({ outcome: 'dead_lettered' })
      void bury(entry, verdict.error)
      return
    }
    const retryAfterMs = askedDelayMs(verdict.error)
    entry.reply?.({ outcome: 'failed', ...(retryAfterMs !== undefined && { retryAfterMs }) })
    void giveBack(entry)
  }

  /** Kept here for a redrive; released, so that a redelivery (somebody pressed "resend") runs again. */
  function bury(entry: Entry, error: unknown): MaybePromise<boolean> {
    keep(entry.delivery, entry.attempts, error)
    return giveBack(entry)
  }

  function keep(delivery: Delivery, attempts: number, error: unknown): void {
    dead.put(delivery, { attempts, error, failedAt: started().policy.clock() })
  }

  function giveBack(entry: Entry): MaybePromise<boolean> {
    settle(entry)
    return release(entry)
  }

  function release(entry: Entry): MaybePromise<boolean> {
    // A failure was observed by the gate; the lease lapses by itself.
    return orElse(
      () => started().store.release(entry.key, entry.token),
      () => false,
    )
  }

  function settle(entry: Entry): void {
    entry.phase = 'settled'
    clearTimeout(entry.retryTimer)
    if (entries.get(entry.key) === entry) entries.delete(entry.key)
    running?.pump.settle(entry)
    entry.onSettled?.()
    entry.delivery = NOTHING
    if (entries.size === 0) onIdle?.()
  }

  /** Another process owns the event now and has acknowledged it: what is left of it here must not run. */
  function lose(entry: Entry): void {
    const { policy } = started()
    policy.observe({ kind: 'lease_lost', ...about(entry.delivery) })
    entry.attempt?.abort(ABORT.leaseLost())
    entry.reply?.({ outcome: 'in_flight', retryAfterMs: 1000 })
    settle(entry)
  }

  /** Its request is gone, and with it whatever would have handled the event or tried again: not without a word. */
  function abandon(entry: Entry): unknown {
    if (entry.phase === 'completing') return settle(entry)
    const delivery = forLater(entry.delivery)
    // Its timeout has withdrawn it where it was still there; where not, its promises are not ours to settle.
    entry.attempt = undefined
    const given = drop(entry, new NonRetryableError(ABANDONED))
    if (!entry.acknowledged) return given
    return started().process(delivery, createAttempt(entry.attempts, 'abandon'))
  }

  /** What is not finished: given back to its sender, or kept as a dead letter where that has let go of it. */
  function drop(entry: Entry, error: AckhookError): MaybePromise<boolean> {
    entry.attempt?.abort(error)
    entry.reply?.({ outcome: 'failed', retryAfterMs: 1000 })
    return entry.acknowledged ? bury(entry, error) : giveBack(entry)
  }

  async function close(timeoutMs: number): Promise<DrainReport> {
    if (running === undefined) return { lost: 0 }
    draining = true
    // With 'after-processing' what fails is handed back to its sender, which retries.
    if (running.policy.acknowledge === 'immediately') limit.lastStartAt = performance.now() + timeoutMs
    for (const entry of entries.values()) {
      if (entry.retryTimer === undefined) continue
      clearTimeout(entry.retryTimer)
      running.pump.push(entry)
    }
    await idleWithin(timeoutMs)
    // What is only being recorded as handled is neither lost nor to be given back.
    const left = [...entries.values()].filter(entry => entry.phase !== 'completing')
    lost += left.filter(entry => entry.acknowledged).length
    running.leases.stop()
    await Promise.all(left.map(entry => drop(entry, ABORT.drained())))
    return { lost }
  }

  function idleWithin(timeoutMs: number): Promise<void> {
    if (entries.size === 0) return Promise.resolve()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, timeoutMs)
      onIdle = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function redrive(key: string): Promise<boolean> {
    const delivery = dead.deliveryOf(key)
    // After the drain nobody would run it.
    if (delivery === undefined || draining) return false
    const { outcome } = await accept(delivery)
    if (outcome === 'failed') keep(delivery, 1, 'the redrive failed')
    return outcome === 'accepted' || outcome === 'processed'
  }

  function newEntry(delivery: Delivery): Entry {
    const now = performance.now()
    return {
      key: delivery.key,
      delivery,
      token: newToken(),
      acknowledged: false,
      attempts: 0,
      attempt: undefined,
      retryTimer: undefined,
      acceptedAt: now,
      leasedUntil: now + leaseMs,
      reply: undefined,
      onSettled: undefined,
      phase: 'claiming',
    }
  }

  function begin(process: Process, policy: ProcessingPolicy): Running {
    const store = createStoreGate(dedupe, policy.observe)
    const run = (entry: Entry): MaybePromise<Verdict> => {
      entry.attempts++
      entry.attempt = createAttempt(entry.attempts)
      return process(entry.delivery, entry.attempt, limit)
    }
    return {
      process,
      policy,
      store,
      pump: createScheduler({ policy, run, apply }),
      complete: createCompletion({ store, policy, isDraining: () => draining, settle }),
      leases: createLeaseKeeper({ entries, store, leaseMs, newToken, lose }),
    }
  }

  function started(): Running {
    if (running === undefined)
      throw new ConfigurationError('inbox', 'start() must come before the first event')
    return running
  }

  return {
    accept,
    async start(process, policy) {
      // Asked here too: two copies of this library do not know each other's receivers.
      if (running !== undefined) throw new ConfigurationError('inbox', draining ? CLOSED : TAKEN)
      running = begin(process, policy)
      try {
        await running.store.start(notice => {
          policy.observe({ kind: 'notice', ...notice })
          policy.logger.warn({ code: notice.code }, notice.message)
        })
      } catch (error) {
        // The store may be back when the receiver tries again.
        running = undefined
        throw error
      }
    },
    close,
    stats() {
      const active = running?.pump.active ?? 0
      const oldest = entries.values().next().value
      return {
        // Listeners of an event that is settled already may still be running.
        pending: Math.max(0, entries.size - active),
        active,
        dead: dead.size,
        oldestPendingMs: oldest === undefined ? 0 : performance.now() - oldest.acceptedAt,
      }
    },
    deadLetters: {
      list: ({ limit = 100 } = {}) => dead.list(limit),
      get: key => dead.get(key),
      redrive,
      discard: key => dead.remove(key),
    },
  }
}

/** Unique for every delivery of every process. Made at the first delivery: Workers forbid it while a module loads. */
function createTokens(): () => string {
  let process: string | undefined
  let count = 0
  return () => {
    process ??= crypto.randomUUID()
    return `${process}:${(count++).toString(36)}`
  }
}

const CLOSED = 'it was closed with its receiver; make a new inbox for a new receiver'

/** Without the event, which a handler may have changed, and without what belongs to a request that is long answered. */
function forLater({ event: _, waitUntil: __, ...rest }: Delivery): Delivery {
  return rest
}
