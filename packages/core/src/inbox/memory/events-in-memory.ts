import { platform } from '#platform'
import { createScheduler } from '#scheduler'
import { type AckhookError, NonRetryableError } from '../../errors/errors.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import { WORKERS } from '../../platform/platform.ts'
import { ACCEPT_RESULTS, type AcceptResult } from '../accept-result.ts'
import { ABORT, type Attempt, createAttempt } from '../attempt.ts'
import type { Claim, StoredId } from '../dedupe-store.ts'
import { type Delivery, eventRef } from '../delivery.ts'
import type { AttemptResult, DrainReport, InboxStats, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import { keepAlive } from '../keep-alive.ts'
import type { Unended } from '../leased/leased-attempts.ts'
import { exceedsDeadline, requestedDelayMs } from '../retry.ts'
import type { DeadLetterList } from './dead-letter-list.ts'
import { type Ended, Entry, type EntryTake, NO_DELIVERY } from './entry.ts'
import { EntryLeases } from './entry-leases.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { MinuteCounts } from './minute-counts.ts'
import type { Pauses } from './pauses.ts'
import type { Scheduler } from './scheduler.ts'
import { SeenIds } from './seen-ids.ts'

export interface EventsInMemoryParts {
  /** Runs one attempt. */
  readonly run: ProcessEvent
  readonly policy: ProcessingPolicy
  /** The inbox's own ids, or the user's store behind its guard. */
  readonly store: SeenIds | GuardedStore
  readonly leaseMs: number
  readonly deadLetters: DeadLetterList
  readonly minutes: MinuteCounts
  readonly pauses: Pauses
}

/** Result while another delivery of the same event is claimed in this process, or another process has the event. */
const IN_FLIGHT: AcceptResult = { outcome: 'in_flight', retryAfterMs: 1000 }
const FULL_OF_BYTES: AcceptResult = { outcome: 'full', detail: 'capacityBytes is reached' }
const STORE_FULL: AcceptResult = { outcome: 'full', detail: 'the id store is full' }
/** Its sender keeps an event that is acknowledged only after its handlers, which cannot begin. */
const PAUSED: AcceptResult = { outcome: 'full', detail: 'handling is paused' }
/** Results for an event that was handled before. */
const ANSWERS = { completed: ACCEPT_RESULTS.duplicate, conflict: ACCEPT_RESULTS.conflict } as const
/** Weight above which events are kept only as bytes, and parsed again before they run. */
const PARSED_WEIGHT = 16_777_216
/** Delay before the next try to begin an attempt whose lease could not be renewed. */
const NOT_BEGUN_MS = 1000
const COMPLETED: AttemptResult = { outcome: 'completed' }
const MOST_NAMED = 20
const REQUEST_ENDED = 'The request that ran this event ended before its handlers did.'

/**
 * The unfinished events of a started inbox, in this process's memory. An event is accepted, begun, applied, and finished
 * by its completion, its dead letter or its release; a drain ends those that are left.
 */
export class EventsInMemory {
  /** Unfinished events by key, the oldest first. */
  readonly #entries = new Map<string, Entry>()
  readonly #run: ProcessEvent
  readonly #policy: ProcessingPolicy
  readonly #store: SeenIds | GuardedStore
  readonly #scheduler: Scheduler
  /** Absent if the store is the inbox's own: its leases are the entries. */
  readonly #leases: EntryLeases | undefined
  readonly #deadLetters: DeadLetterList
  readonly #minutes: MinuteCounts
  readonly #pauses: Pauses
  /** Stops the check at process exit, once nothing can be lost any more. */
  readonly stopWatchingExit: () => void
  /** Total weight of the entries. */
  #weight = 0
  readonly #reportUnapplied = onceAMinute((fields: object, more) =>
    this.#policy.logger.error(fields, `An attempt's result could not be applied${more}.`),
  )
  #sequence = 0
  /** Set by the drain if retries are the inbox's, not the sender's. The worker reads it when an attempt ends. */
  readonly #limit: { lastStartAt: number | undefined } = { lastStartAt: undefined }
  #isDraining = false
  /** Ids of acknowledged events that the drain gave up on. */
  readonly #lost: string[] = []
  /** Acknowledged events that were unfinished at the end of the drain: lost, unless `onDeadLetter` is about to take them. */
  readonly #cut = new Set<Entry>()
  /** Host that freezes acknowledged events; cleared once the warning is logged. */
  #freezingHost: string | undefined
  /** Called when no entry is left. */
  #onIdle: (() => void) | undefined

  constructor({ run, policy, store, leaseMs, deadLetters, minutes, pauses }: EventsInMemoryParts) {
    this.#run = run
    this.#policy = policy
    this.#store = store
    this.#deadLetters = deadLetters
    this.#minutes = minutes
    this.#pauses = pauses
    this.#scheduler = createScheduler({
      policy,
      pauses,
      run: entry => this.#begin(entry),
      apply: (result, entry) => this.#applyGuarded(result, entry),
    })
    if (!(store instanceof SeenIds)) {
      this.#leases = new EntryLeases({
        store,
        leaseMs,
        run: (delivery, attempt) => run(delivery, attempt, this.#limit),
        policy,
        onBegin: entry => this.#count(entry),
        // What runs is told by its signal, and ends first.
        onLost: entry => void (entry.attempt ?? this.#lose(entry)),
      })
    }
    this.#freezingHost = policy.acknowledge === 'immediately' ? platform.freezingHost() : undefined
    this.stopWatchingExit = platform.onExit(() => this.#reportLoss())
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Handlers of this process. */
  get handlers(): ProcessingPolicy['handlers'] {
    return this.#policy.handlers
  }

  /** Unfinished events, the oldest first. */
  entries(): Iterable<Entry> {
    return this.#entries.values()
  }

  /** Accepts a delivery, or returns why not: a duplicate, no room, or a failed claim. Synchronous if the store is. */
  accept(delivery: Delivery): MaybePromise<AcceptResult> {
    for (const entry of this.#scheduler.overdue?.() ?? [])
      keepAlive(delivery, this.#abandon(entry), this.#policy.logger)
    const known = this.#entries.get(delivery.key)
    if (known !== undefined) return answerDuplicate(known, delivery)
    const weight = weigh(delivery, this.#policy.capacityBytes)
    const full = this.#makeRoom(delivery, weight)
    if (full !== undefined) return this.#answerHandled(delivery) ?? full
    const kept = this.#weight > PARSED_WEIGHT ? { ...delivery, event: undefined } : delivery
    const entry = new Entry(kept, weight, this.#sequence++)
    const refusal = this.#scheduler.reserve?.(entry)
    if (refusal !== undefined) return this.#answerHandled(delivery) ?? refusal
    this.#entries.set(entry.key, entry)
    this.#weight += weight
    return this.#claim(entry)
  }

  /** Why there is no room for an event. Drops the oldest dead letters, which were reported, if that makes room. */
  #makeRoom({ key, type }: Delivery, weight: number): AcceptResult | undefined {
    const { capacity, capacityBytes = Number.POSITIVE_INFINITY, acknowledge } = this.#policy
    if (this.#entries.size >= capacity) return ACCEPT_RESULTS.full
    const left = capacityBytes - this.#weight - weight
    if (left < 0) return FULL_OF_BYTES
    if (left < this.#deadLetters.bytes)
      this.#deadLetters.drop(left, 'capacityBytes is reached', this.#policy, key)
    const isPaused = this.#pauses.isAny && acknowledge === 'after-processing' && this.#pauses.covers(type)
    return isPaused ? PAUSED : undefined
  }

  /** Looks up the id if there is no room to claim it. Only synchronous stores support this. */
  #answerHandled({ key, fingerprint }: Delivery): AcceptResult | undefined {
    const handled = this.#store.handled(key, fingerprint)
    return handled && ANSWERS[handled]
  }

  /** A crash from here to the acknowledgement leaves a lease that expires; the sender's retry runs then. */
  #claim(entry: Entry): MaybePromise<AcceptResult> {
    if (this.#leases === undefined) {
      const handled = this.#answerHandled(entry.delivery)
      if (handled === undefined) return this.#admit(entry)
      this.#finish(entry)
      return handled
    }
    try {
      entry.take = this.#leases.create(entry)
      const claim = entry.take.hold.claim()
      if (!isPromise(claim)) return this.#answerClaim(entry, claim)
      return claim
        .then(known => this.#answerClaim(entry, known))
        .catch(cause => this.#unavailable(entry, cause))
    } catch (cause) {
      return this.#unavailable(entry, cause)
    }
  }

  #unavailable(entry: Entry, cause: unknown): AcceptResult {
    this.#finish(entry)
    return { outcome: 'unavailable', code: 'store_unavailable', cause }
  }

  #answerClaim(entry: Entry, claim: Claim): MaybePromise<AcceptResult> {
    if (claim.outcome === 'claimed') return this.#admit(entry)
    this.#finish(entry)
    switch (claim.outcome) {
      case 'completed':
      case 'conflict':
        return ANSWERS[claim.outcome]
      case 'in_flight':
        return claim
      case 'full':
        return STORE_FULL
      default:
        throw new TypeError("A store's claim() must return one of the outcomes of Claim.")
    }
  }

  #admit(entry: Entry): MaybePromise<AcceptResult> {
    if (entry.phase === 'finished') {
      // The drain ended during the claim: nothing is left to handle the event.
      void this.#release(entry)
      return IN_FLIGHT
    }
    entry.phase = 'held'
    this.#minutes.add('received')
    if (entry.take !== undefined) this.#leases?.attempts.hold(entry.take)
    this.#keepHostAlive(entry)
    const replaced = this.#deadLetters.deliveryOf(entry.key)
    // If the sender is told only afterwards, the letter stays until the event is handled: it may be given back.
    if (this.#policy.acknowledge === 'immediately') this.#deadLetters.remove(entry.key)
    this.#scheduler.enqueue(entry)
    const isSame = replaced === undefined || replaced.fingerprint === entry.delivery.fingerprint
    if (this.#policy.acknowledge === 'after-processing')
      return new Promise(resolve => {
        entry.reply = isSame
          ? resolve
          : acceptance => resolve({ ...acceptance, conflict: true } as AcceptResult)
      })
    // A crash after this line loses the event: its sender receives a 2xx, and only this process has it.
    entry.acknowledged = true
    return isSame ? ACCEPT_RESULTS.accepted : ACCEPT_RESULTS.replaced
  }

  #keepHostAlive(entry: Entry): void {
    const { waitUntil } = entry.delivery
    const { logger } = this.#policy
    if (waitUntil !== undefined) {
      const finished = new Promise<void>(resolve => (entry.onFinished = resolve))
      keepAlive(entry.delivery, finished, logger)
    }
    const host = this.#freezingHost
    // Workers end work passed to waitUntil within half a minute.
    if (host === undefined || (waitUntil !== undefined && host !== WORKERS)) return
    const text =
      waitUntil === undefined
        ? `${host} may freeze or end this process once the reply is written, and events in memory are then lost. Use a durable inbox (on Workers cloudflareQueueInbox, on Lambda sqsInbox), set acknowledge: 'after-processing', or pass waitUntil.`
        : `${host} end handlers 30 seconds after the reply, even with waitUntil, and the events and retries that are left are then lost. Use cloudflareQueueInbox, or set acknowledge: 'after-processing'.`
    logger.warn({ code: 'host_freezes' }, text)
    this.#freezingHost = undefined
  }

  /** Runs a dead letter again. `false` if there is none, or no room for it. */
  async redrive(key: string): Promise<boolean> {
    const delivery = this.#deadLetters.deliveryOf(key)
    // Nothing would run it after a drain.
    if (delivery === undefined || this.#isDraining) return false
    const { outcome } = await this.accept({ ...delivery, queuedAt: Date.now() })
    // Counts as redriven once it ran, whether or not it succeeded.
    return ['accepted', 'processed', 'dead_lettered', 'failed'].includes(outcome)
  }

  /** Begins the next attempt at an event: with a user's store, under a lease that is known to hold. */
  #begin(entry: Entry): MaybePromise<Ended> {
    if (this.#leases !== undefined && entry.take !== undefined)
      return this.#leases.attempts.attempt(entry.take)
    return this.#run(entry.delivery, this.#count(entry), this.#limit)
  }

  #count(entry: Entry): Attempt {
    entry.attempts++
    const attempt = createAttempt(entry.attempts)
    entry.attempt = attempt
    if (entry.reply !== undefined) replyEarly(entry, attempt)
    return attempt
  }

  #applyGuarded(result: Ended, entry: Entry): void {
    try {
      this.#apply(result, entry)
    } catch (err) {
      this.#reportUnapplied('', { err, event: entry.delivery.id })
    }
  }

  /** Applies the worker's decision about an attempt. */
  #apply(result: Ended, entry: Entry): void {
    entry.attempt = undefined
    // Lost to another process, or released by the drain: the result no longer counts, unless `onDeadLetter` took the event.
    if (entry.phase !== 'held') {
      if (typeof result !== 'string' && result.outcome === 'dead' && result.notified) this.#cut.delete(entry)
      return
    }
    if (typeof result === 'string') {
      this.#applyUnended(result, entry)
      return
    }
    if (result.outcome === 'completed') {
      entry.reply?.({ outcome: 'processed' })
      entry.acknowledged = true
      this.#complete(entry)
      return
    }
    entry.delivery = forLater(entry.delivery)
    // Never happens here: this inbox serves one process.
    if (result.outcome === 'postponed') this.#retry(entry, result.delayMs)
    else if (entry.reply !== undefined) this.#answerFailure(entry, result)
    else if (result.outcome === 'retry') this.#retry(entry, result.delayMs)
    else {
      if (result.attemptsLeft === true && !result.notified) this.#lost.push(entry.delivery.id)
      void this.#deadLetter(entry, result.error)
    }
  }

  /** Nobody else is known to have the event: it returns to its sender or, if already acknowledged, waits. */
  #applyUnended(how: Unended, entry: Entry): void {
    if (how === 'withdrawn') {
      // It does not count, as in a drain. Its handlers have ended, or ignored their signal until their time limit.
      entry.attempts--
      entry.delivery = forLater(entry.delivery)
    }
    if (how === 'lost') this.#finish(entry)
    else if (entry.reply === undefined) this.#scheduler.enqueueAfter(entry, NOT_BEGUN_MS)
    else {
      const cause = new Error('the lease on this event could not be renewed')
      entry.reply({ outcome: 'unavailable', code: 'store_unavailable', cause })
      void this.#release(entry)
    }
  }

  #retry(entry: Entry, delayMs: number): void {
    if (entry.take !== undefined) this.#leases?.attempts.hold(entry.take)
    // The drain began after the worker decided: the last attempt starts now.
    if (exceedsDeadline(delayMs, this.#limit.lastStartAt)) this.#scheduler.enqueue(entry)
    else this.#scheduler.enqueueAfter(entry, delayMs)
  }

  /** Returns the failure to the sender, which got no acknowledgement and retries. The inbox does not. */
  #answerFailure(entry: Entry, result: Extract<AttemptResult, { error: unknown }>): void {
    if (result.outcome === 'dead' && result.notified) {
      entry.reply?.({ outcome: 'dead_lettered' })
      void this.#deadLetter(entry, result.error)
    } else {
      entry.reply?.({ outcome: 'failed', retryAfterMs: requestedDelayMs(result.error) })
      void this.#release(entry)
    }
  }

  /** Remembers the id of a handled event, then finishes its entry. */
  #complete(entry: Entry): void {
    entry.phase = 'completing'
    this.#minutes.add('handled')
    if (this.#policy.acknowledge === 'after-processing') this.#deadLetters.remove(entry.key)
    if (entry.take !== undefined) void this.#record(entry, entry.take)
    else {
      const { key, delivery } = entry
      const { retentionMs, replayableMs } = this.#policy
      const { fingerprint, namespace } = delivery
      void this.#store.complete(key, '', { retentionMs, fingerprint, namespace, replayableMs })
      this.#finish(entry)
    }
  }

  /** Until the id is remembered, only the lease keeps a redelivery from running again. */
  async #record(entry: Entry, take: EntryTake): Promise<void> {
    await this.#leases?.attempts.record(take, COMPLETED)
    this.#finish(entry)
  }

  /** Keeps an event for a redrive, and releases it so that a redelivery by its sender runs again. */
  #deadLetter(entry: Entry, error: unknown): Promise<void> {
    this.#minutes.add('deadLettered')
    this.#keepDeadLetter(entry.delivery, entry.attempts, error)
    return this.#release(entry)
  }

  #keepDeadLetter(delivery: Delivery, attempts: number, error: unknown): void {
    this.#deadLetters.put(delivery, { attempts, error, failedAt: this.#policy.clock() }, this.#policy)
  }

  /** Ends a waiting entry that another process owns now: nothing may run here any more. */
  #lose(entry: Entry): void {
    this.#policy.observe({ kind: 'lease_lost', ...eventRef(entry.delivery) })
    entry.reply?.(IN_FLIGHT)
    this.#finish(entry)
  }

  /**
   * Ends an event whose request is gone, and with the request everything that would have handled or retried the event.
   * The worker logs, observes and notifies, so that this is not silent.
   */
  async #abandon(entry: Entry): Promise<void> {
    if (entry.phase === 'completing') {
      this.#finish(entry)
      return
    }
    const delivery = forLater(entry.delivery)
    // The timeout has aborted the attempt, or its promises ended with the request and may not be settled from here.
    entry.attempt = undefined
    const ended = this.#withdraw(entry, new NonRetryableError(REQUEST_ENDED))
    if (entry.acknowledged)
      await this.#run(delivery, createAttempt(entry.attempts, 'abandon', 0, REQUEST_ENDED))
    await ended
  }

  /** Ends an unfinished entry: returns it to its sender or, if already acknowledged, dead-letters it. */
  #withdraw(entry: Entry, error: AckhookError): Promise<void> {
    entry.attempt?.abort(error)
    entry.reply?.({ outcome: 'failed', retryAfterMs: 1000 })
    return entry.acknowledged ? this.#deadLetter(entry, error) : this.#release(entry)
  }

  /** Finishes an entry and releases its lease, so that a redelivery runs at once. Never rejects. */
  async #release(entry: Entry): Promise<void> {
    this.#finish(entry)
    await entry.take?.hold.release()
  }

  /** The last step of every entry. Harmless when repeated. */
  #finish(entry: Entry): void {
    // The key may belong to a later entry by now.
    if (entry.phase === 'finished') return
    entry.phase = 'finished'
    this.#entries.delete(entry.key)
    this.#weight -= entry.weight
    this.#scheduler.remove(entry)
    if (entry.take !== undefined) {
      this.#leases?.attempts.drop(entry.take)
      entry.take.hold.end()
    }
    entry.onFinished?.()
    entry.delivery = NO_DELIVERY
    if (this.#entries.size === 0) this.#onIdle?.()
  }

  /** Called after each change of the pauses. Returns the events to their senders whose requests would wait. */
  pausesChanged(): void {
    for (const entry of [...this.#entries.values()]) {
      const { reply, phase, attempt, delivery } = entry
      if (reply === undefined || phase !== 'held' || attempt !== undefined) continue
      if (!this.#pauses.covers(delivery.type)) continue
      reply(PAUSED)
      void this.#release(entry)
    }
    this.#scheduler.resumed?.()
  }

  /** Runs waiting events while time is left, then returns or dead-letters the rest. */
  async drain(timeoutMs: number): Promise<DrainReport> {
    this.#isDraining = true
    // A failed event goes back to its sender with 'after-processing'; the sender then retries.
    if (this.#policy.acknowledge === 'immediately') this.#limit.lastStartAt = performance.now() + timeoutMs
    this.#endPauses()
    for (const entry of this.#entries.values())
      if (entry.retryTimer !== undefined) this.#scheduler.enqueue(entry)
    const attempts = this.#leases?.attempts
    if (attempts !== undefined) await attempts.drain(timeoutMs, () => this.#cutShort())
    else {
      await this.#idleWithin(timeoutMs)
      await this.#cutShort()
    }
    return { lost: this.#lost.length + this.#cut.size }
  }

  /** Returns what is unfinished at the end of the drain to its sender or, if already acknowledged, dead-letters it. */
  async #cutShort(): Promise<void> {
    // An attempt that ended at the deadline counts: its result is applied in this turn.
    if (this.#entries.size > 0) await new Promise<void>(resolve => platform.afterReplies(resolve))
    // An event that is only being recorded as handled is neither lost nor released.
    const left = [...this.#entries.values()].filter(entry => entry.phase !== 'completing')
    const cut = left.filter(({ acknowledged }) => acknowledged)
    const lost = [...this.#lost, ...cut.map(({ delivery }) => delivery.id)]
    for (const entry of cut) this.#cut.add(entry)
    if (lost.length > 0)
      this.#tellLoss(lost, lost.length, `The drain ended before these events were handled: ${namesOf(lost)}.`)
    this.stopWatchingExit()
    await Promise.all(left.map(entry => this.#withdraw(entry, ABORT.drained())))
  }

  async #idleWithin(ms: number): Promise<void> {
    if (this.#entries.size > 0)
      await settlesWithin(new Promise<void>(resolve => (this.#onIdle = resolve)), ms)
  }

  /** Runs what a pause has held back: it would be lost with the process. */
  #endPauses(): void {
    const pauses = this.#pauses
    if (!pauses.isAny) {
      pauses.close()
      return
    }
    const held = [...this.#entries.values()].filter(
      ({ attempt, delivery }) => attempt === undefined && pauses.covers(delivery.type),
    ).length
    pauses.close()
    if (held > 0)
      this.#policy.logger.warn(
        { code: 'pause_ended_by_drain', events: held },
        `Handling was paused, and the drain ends that: ${held} waiting events run now, because they would be lost with this process. A durable inbox keeps them, and the pause.`,
      )
    this.#scheduler.resumed?.()
  }

  /** Reports acknowledged events that are lost with the process because nothing called `close()`. */
  #reportLoss(): void {
    const held = [...this.#entries.values()].filter(
      ({ acknowledged, phase }) => acknowledged && phase !== 'completing',
    )
    if (held.length === 0) return
    const lost = held.map(({ delivery }) => delivery.id)
    this.#tellLoss(
      lost.slice(0, MOST_NAMED),
      lost.length,
      `The process exits with ${lost.length} acknowledged events in memory: ${namesOf(lost)}. Call close() first, or use a durable inbox.`,
    )
  }

  #tellLoss(events: readonly string[], waiting: number, message: string): void {
    const { observe, logger } = this.#policy
    observe({ kind: 'dropped', cause: 'shutdown', dead: 0, waiting })
    logger.error({ code: 'events_lost', events }, message)
  }

  /** The unfinished event with this key. */
  entry(key: string): Entry | undefined {
    return this.#entries.get(key)
  }

  /** What the store keeps for this key. */
  stored(key: string): MaybePromise<StoredId> {
    return this.#store.lookup(key)
  }

  get retentionMs(): number {
    return this.#policy.retentionMs
  }

  /** Forgets a handled event. An unfinished one is not handled yet, and keeps its lease. */
  forget(key: string): MaybePromise<boolean> {
    return !this.#entries.has(key) && this.#store.forget(key)
  }

  stats(): Pick<InboxStats, 'pending' | 'active' | 'oldestPendingMs'> {
    const { active } = this.#scheduler
    const oldest = this.#entries.values().next().value
    return {
      // `onError` or `onDeadLetter` may still run for an event that is finished.
      pending: Math.max(0, this.#entries.size - active),
      active,
      oldestPendingMs: oldest === undefined ? 0 : performance.now() - oldest.acceptedAt,
    }
  }
}

function answerDuplicate(known: Entry, { fingerprint }: Delivery): AcceptResult {
  if (!known.acknowledged) return IN_FLIGHT
  return known.delivery.fingerprint === fingerprint ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
}

/** An event heavier than the whole limit counts as all of it: it waits for no other to be there, instead of forever. */
function weigh({ weight, body }: Delivery, limit = Number.POSITIVE_INFINITY): number {
  return Math.min(weight ?? body.length, limit)
}

/** The sender does not wait for handlers that ignore their signal. Until they end, its retry gets 503. */
function replyEarly(entry: Entry, attempt: Attempt): void {
  attempt.onAbort(({ code }) => {
    if (code === 'handler_timeout') entry.reply?.({ outcome: 'failed' })
    else if (code === 'lease_lost') entry.reply?.(IN_FLIGHT)
  })
}

/** Drops the event, which a handler may have changed, and the fields of a request already replied to. */
function forLater({ event: _, waitUntil: __, asyncContext: ___, ...rest }: Delivery): Delivery {
  return rest
}

function namesOf(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED
  const named = ids.slice(0, MOST_NAMED).join(', ')
  return `${named}${more > 0 ? ` and ${more} more` : ''}`
}
