import { platform } from '#platform'
import { ABORT, createAttempt } from '../attempt.ts'
import type { Claim, DedupeStore } from '../dedupe-store.ts'
import { type Duration, durationMs } from '../duration.ts'
import { ConfigurationError, RetryAfterError } from '../errors.ts'
import type {
  Acceptance,
  Delivery,
  DrainReport,
  Inbox,
  Process,
  ProcessingPolicy,
  Verdict,
} from '../inbox.ts'
import { isPromise, type MaybePromise } from '../maybe-promise.ts'
import { createDeadLetterShelf } from './dead-letters.ts'
import { type Entry, NOTHING } from './entry.ts'
import { createLeaseKeeper } from './lease-keeper.ts'
import { memoryStore } from './memory-store.ts'
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts'
import { createStoreGate, type StoreGate } from './store-gate.ts'

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
  readonly queue: ReadyQueue
  readonly leases: ReturnType<typeof createLeaseKeeper>
}

const DUPLICATE: Acceptance = { outcome: 'duplicate' }
const CONFLICT: Acceptance = { outcome: 'duplicate', conflict: true }
const ACCEPTED: Acceptance = { outcome: 'accepted' }
const FULL: Acceptance = { outcome: 'full' }
/** While another delivery of the same event is being claimed here: that takes a second at most. */
const CLAIM_UNDER_WAY: Acceptance = { outcome: 'in_flight', retryAfterMs: 1000 }
const DRAIN_RETRY_MS = 100
const TURN_MS = 5

/**
 * The inbox in this process's memory, and the default. What it acknowledged and has not handled dies with the
 * process: the sender will not repeat it. `acknowledge: 'after-processing'` or a durable inbox loses nothing.
 */
export function memoryInbox(options: MemoryInboxOptions = {}): Inbox {
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
  let active = 0
  let draining = false
  let pumpScheduled = false
  let turnEndsAt = 0
  let onIdle: (() => void) | undefined

  function accept(delivery: Delivery): MaybePromise<Acceptance> {
    const { policy, store } = started()
    const known = entries.get(delivery.key)
    if (known !== undefined) {
      if (!known.acknowledged) return CLAIM_UNDER_WAY
      return known.delivery.fingerprint === delivery.fingerprint ? DUPLICATE : CONFLICT
    }
    if (entries.size >= policy.capacity) return FULL
    const entry = newEntry(delivery)
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
      const mark = storeMark(entry.delivery)
      settle(entry)
      if (claim.outcome === 'full') return FULL
      if (claim.outcome === 'in_flight') return claim
      return claim.fingerprint === mark ? DUPLICATE : CONFLICT
    }
    const { policy, queue, leases } = started()
    if (entry.phase === 'settled') {
      // The drain ended while the store was asked: nobody is left to handle the event.
      void release(entry)
      return CLAIM_UNDER_WAY
    }
    entry.phase = 'held'
    leases.watch()
    entry.delivery.waitUntil?.(new Promise<void>(resolve => (entry.onSettled = resolve)))
    dead.remove(entry.key)
    queue.push(entry)
    schedulePump()
    if (policy.acknowledge === 'after-processing') return new Promise(resolve => (entry.reply = resolve))
    // From this line on a crash loses the event: the sender hears 2xx and it is only in this process.
    entry.acknowledged = true
    return ACCEPTED
  }

  function unavailable(entry: Entry, cause: unknown): Acceptance {
    settle(entry)
    return { outcome: 'unavailable', code: 'store_unavailable', cause }
  }

  /** After the replies of this turn: work must not delay an acknowledgement that is being written. */
  function schedulePump(): void {
    if (pumpScheduled) return
    pumpScheduled = true
    platform.defer(() => {
      pumpScheduled = false
      turnEndsAt = performance.now() + TURN_MS
      pump()
    })
  }

  /** Starts what may run. Handlers that need no waiting could go on for ever: after a while, I/O gets its turn. */
  function pump(): void {
    const { policy, queue } = started()
    while (active < policy.concurrency) {
      if (performance.now() > turnEndsAt) {
        schedulePump()
        return
      }
      const entry = queue.shift()
      if (entry === undefined) return
      if (entry.phase === 'held') run(entry)
    }
  }

  function run(entry: Entry): void {
    active++
    entry.attempts++
    entry.attempt = createAttempt(entry.attempts)
    const verdict = started().process(entry.delivery, entry.attempt)
    if (!isPromise(verdict)) finish(entry, verdict)
    else
      void verdict.then(known => {
        finish(entry, known)
        pump()
      })
  }

  function finish(entry: Entry, verdict: Verdict): void {
    entry.attempt = undefined
    active--
    if (entry.phase !== 'held') return
    if (verdict.outcome !== 'completed') entry.delivery = withoutEvent(entry.delivery)
    apply(verdict, entry)
  }

  function apply(verdict: Verdict, entry: Entry): void {
    if (verdict.outcome === 'completed') {
      entry.reply?.({ outcome: 'processed' })
      complete(entry)
    } else if (entry.reply !== undefined) {
      handBack(entry, verdict)
    } else if (verdict.outcome === 'retry') {
      const delayMs = draining ? Math.min(verdict.delayMs, DRAIN_RETRY_MS) : verdict.delayMs
      entry.retryTimer = setTimeout(retryNow, delayMs, entry)
    } else {
      bury(entry, verdict.error)
    }
  }

  function retryNow(entry: Entry): void {
    entry.retryTimer = undefined
    started().queue.push(entry)
    schedulePump()
  }

  /** Without an acknowledgement the event is still the sender's: it retries, and nothing of ours does. */
  function handBack(entry: Entry, verdict: Exclude<Verdict, { outcome: 'completed' }>): void {
    if (verdict.outcome === 'dead' && verdict.noted) {
      entry.reply?.({ outcome: 'dead_lettered' })
      bury(entry, verdict.error)
      return
    }
    const asked = verdict.error instanceof RetryAfterError ? { retryAfterMs: verdict.error.delayMs } : {}
    entry.reply?.({ outcome: 'failed', ...asked })
    giveBack(entry)
  }

  /** Remembers the id. A store that answers at once is not awaited: that would be a promise for each event. */
  function complete(entry: Entry): void {
    entry.phase = 'completing'
    const kept = remember(entry)
    if (kept === true) settle(entry)
    else void completeLater(entry, kept)
  }

  function remember({ key, token, delivery }: Entry): MaybePromise<boolean> {
    const { policy, store } = started()
    try {
      const fingerprint = storeMark(delivery)
      return store.complete(key, token, { retentionMs: policy.retentionMs, fingerprint })
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** While remembering the id fails, the lease is all that keeps a redelivery from running again. */
  async function completeLater(entry: Entry, first: MaybePromise<boolean>): Promise<void> {
    const { policy } = started()
    const { delivery } = entry
    let kept = first
    for (let delayMs = 250; ; delayMs *= 2) {
      try {
        if (!(await kept)) policy.observe({ kind: 'lease_lost', ...about(delivery) })
        break
      } catch (error) {
        if (draining || performance.now() + delayMs >= entry.leasedUntil) {
          policy.observe({ kind: 'completion_lost', ...about(delivery), error })
          break
        }
        await new Promise(resolve => setTimeout(resolve, delayMs))
        kept = remember(entry)
      }
    }
    settle(entry)
  }

  /** Kept here for a redrive; released, so that a redelivery (somebody pressed "resend") runs again. */
  function bury(entry: Entry, error: unknown): void {
    const failedAt = started().policy.clock()
    dead.put(entry.delivery, { attempts: entry.attempts, error, failedAt })
    giveBack(entry)
  }

  function giveBack(entry: Entry): void {
    settle(entry)
    void release(entry)
  }

  async function release(entry: Entry): Promise<void> {
    try {
      await started().store.release(entry.key, entry.token)
    } catch {
      // Observed by the gate; the lease lapses by itself.
    }
  }

  function settle(entry: Entry): void {
    entry.phase = 'settled'
    clearTimeout(entry.retryTimer)
    if (entries.get(entry.key) === entry) entries.delete(entry.key)
    running?.queue.settle(entry)
    entry.onSettled?.()
    entry.delivery = NOTHING
    if (entries.size === 0) onIdle?.()
    else if (running?.policy.serialize) schedulePump()
  }

  /** Another process owns the event now and has acknowledged it: what is left of it here must not run. */
  function lose(entry: Entry): void {
    const { policy } = started()
    policy.observe({ kind: 'lease_lost', ...about(entry.delivery) })
    entry.attempt?.abort(ABORT.leaseLost())
    entry.reply?.({ outcome: 'in_flight', retryAfterMs: 1000 })
    settle(entry)
  }

  async function close(timeoutMs: number): Promise<DrainReport> {
    if (running === undefined) return { lost: 0 }
    draining = true
    for (const entry of entries.values()) {
      if (entry.retryTimer === undefined) continue
      clearTimeout(entry.retryTimer)
      retryNow(entry)
    }
    await idleWithin(timeoutMs)
    // What is only being recorded as handled is neither lost nor to be given back.
    const left = [...entries.values()].filter(entry => entry.phase !== 'completing')
    const lost = left.filter(entry => entry.acknowledged)
    for (const entry of left) {
      entry.attempt?.abort(ABORT.drained())
      entry.reply?.({ outcome: 'failed', retryAfterMs: 1000 })
      if (entry.acknowledged) {
        dead.put(entry.delivery, {
          attempts: entry.attempts,
          error: ABORT.drained(),
          failedAt: started().policy.clock(),
        })
      }
      settle(entry)
    }
    running.leases.stop()
    await Promise.all(left.map(release))
    return { lost: lost.length }
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
    if (outcome === 'failed') {
      dead.put(delivery, { attempts: 1, error: 'the redrive failed', failedAt: started().policy.clock() })
    }
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

  function started(): Running {
    if (running === undefined)
      throw new ConfigurationError('inbox', 'start() must come before the first event')
    return running
  }

  return {
    accept,
    start(process, policy) {
      const store = createStoreGate(dedupe, policy.observe)
      const leases = createLeaseKeeper({ entries, store, leaseMs, newToken, lose })
      running = { process, policy, store, leases, queue: createReadyQueue(policy) }
      return dedupe.start?.(notice => {
        policy.observe({ kind: 'notice', ...notice })
        policy.logger.warn({ code: notice.code }, notice.message)
      })
    },
    close,
    stats() {
      const oldest = entries.values().next().value
      return {
        pending: entries.size - active,
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

/**
 * What a store keeps of the fingerprint. Redis holds one shared object for each number below 10,000, so that
 * this mark takes no memory there; one changed body in 10,000 goes unreported for it, and none runs twice.
 */
function storeMark(delivery: Delivery): number {
  return (delivery.fingerprint >>> 0) % 10_000
}

function withoutEvent(delivery: Delivery): Delivery {
  const { event: _, ...rest } = delivery
  return rest
}

function about(delivery: Delivery): { id: string; type: string; namespace: string } {
  return { id: delivery.id, type: delivery.type, namespace: delivery.namespace }
}
