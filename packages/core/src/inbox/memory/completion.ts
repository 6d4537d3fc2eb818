import { type AckhookError, NonRetryableError } from '../../errors/errors.ts'
import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { AcceptResult } from '../accept-result.ts'
import { ABORT, type Attempt, createAttempt, isTimedOut } from '../attempt.ts'
import type { MinuteCount } from '../browse.ts'
import { type Delivery, eventRef } from '../delivery.ts'
import type { AttemptResult } from '../inbox.ts'
import { exceedsDeadline, requestedDelayMs } from '../retry.ts'
import type { StoreLease } from '../store-lease.ts'
import { type Ended, type Entry, NO_DELIVERY, NOT_BEGUN } from './entry.ts'
import type { State } from './state.ts'

/** Delay before the next try to begin an attempt whose lease could not be renewed. */
const NOT_BEGUN_MS = 1000

/** Begins the next attempt at an event. */
export function beginAttempt(state: State, entry: Entry): MaybePromise<Ended> {
  if (entry.lease?.isPastHalf()) return beginOnceRenewed(state, entry, entry.lease)
  return begin(state, entry)
}

function begin(state: State, entry: Entry): MaybePromise<AttemptResult> {
  entry.attempts++
  entry.attempt = createAttempt(entry.attempts)
  if (entry.reply !== undefined) replyAtTimeLimit(entry, entry.attempt)
  return state.run(entry.delivery, entry.attempt, state.limit)
}

/** A handler begins only under a lease that is known to hold: after a slow claim, or a suspension, it is renewed. */
async function beginOnceRenewed(state: State, entry: Entry, lease: StoreLease): Promise<Ended> {
  const renewal = await lease.renew()
  if (entry.phase !== 'held') return NOT_BEGUN
  if (renewal !== 'lost') return lease.isPastHalf() ? NOT_BEGUN : begin(state, entry)
  loseLease(state, entry)
  return NOT_BEGUN
}

/** Applies the worker's decision about an attempt. */
export function applyResult(state: State, result: Ended, entry: Entry): void {
  entry.attempt = undefined
  // Lost to another process, or released by the drain: the result no longer counts.
  if (entry.phase !== 'held') return
  if (result.outcome === 'not_begun') {
    giveBack(state, entry)
    return
  }
  if (result.outcome === 'completed') {
    entry.reply?.({ outcome: 'processed' })
    entry.acknowledged = true
    complete(state, entry)
    return
  }
  entry.delivery = forLater(entry.delivery)
  // Never happens here: this inbox serves one process.
  if (result.outcome === 'postponed') retry(state, entry, result.delayMs)
  else if (entry.reply !== undefined) answerFailure(state, entry, result)
  else if (result.outcome === 'retry') retry(state, entry, result.delayMs)
  else {
    if (result.attemptsLeft === true && !result.notified) state.lost.push(entry.delivery.id)
    void deadLetter(state, entry, result.error)
  }
}

/** Remembers the id of a handled event, then finishes its entry. */
function complete(state: State, entry: Entry): void {
  entry.phase = 'completing'
  state.minutes.add('handled')
  const remembered = remember(state, entry)
  if (remembered === true) finish(state, entry)
  else void completeLater(state, entry, remembered)
}

/** Retries the completion: until the id is remembered, only the lease keeps a redelivery from running again. */
async function completeLater(state: State, entry: Entry, first: MaybePromise<boolean>): Promise<void> {
  const { observe } = state.policy
  const event = eventRef(entry.delivery)
  let remembered = first
  for (let failures = 1; ; failures++) {
    try {
      if (!(await remembered)) observe({ kind: 'lease_lost', ...event })
      break
    } catch (error) {
      if (!(await state.recordRetries.next(failures, entry.lease?.remaining()))) {
        observe({ kind: 'completion_lost', ...event, error })
        break
      }
    }
    remembered = remember(state, entry)
  }
  finish(state, entry)
}

function remember(state: State, { key, lease, storedFingerprint }: Entry): MaybePromise<boolean> {
  const completion = { retentionMs: state.policy.retentionMs, fingerprint: storedFingerprint }
  try {
    return lease === undefined ? state.store.complete(key, '', completion) : lease.complete(completion)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Returns an event that could not begin to its sender or, if already acknowledged, tries again soon. */
function giveBack(state: State, entry: Entry): void {
  if (entry.reply === undefined) state.scheduler.enqueueAfter(entry, NOT_BEGUN_MS)
  else {
    const cause = new Error('the lease on this event could not be renewed')
    entry.reply({ outcome: 'unavailable', code: 'store_unavailable', cause })
    void release(state, entry)
  }
}

/** Its sender keeps an event that is acknowledged only after its handlers, which cannot begin. */
export const PAUSED: AcceptResult = { outcome: 'full', detail: 'handling is paused' }

/** Returns the events to their senders whose requests would wait for the end of a pause. */
export function giveBackPaused(state: State): void {
  for (const entry of [...state.entries.values()]) {
    const { reply, phase, attempt, delivery } = entry
    if (reply === undefined || phase !== 'held' || attempt !== undefined) continue
    if (!state.pauses.covers(delivery.type)) continue
    reply(PAUSED)
    void release(state, entry)
  }
}

function retry({ scheduler, limit }: State, entry: Entry, delayMs: number): void {
  // The drain began after the worker decided: the last attempt starts now.
  if (exceedsDeadline(delayMs, limit.lastStartAt)) scheduler.enqueue(entry)
  else scheduler.enqueueAfter(entry, delayMs)
}

/** The sender does not wait for handlers that ignore their signal. Until they end, its retry gets 503. */
function replyAtTimeLimit(entry: Entry, attempt: Attempt): void {
  attempt.onAbort(() => {
    if (isTimedOut(attempt)) entry.reply?.({ outcome: 'failed' })
  })
}

/** Returns the failure to the sender, which got no acknowledgement and retries. The inbox does not. */
function answerFailure(state: State, entry: Entry, result: Extract<AttemptResult, { error: unknown }>): void {
  if (result.outcome === 'dead' && result.notified) {
    entry.reply?.({ outcome: 'dead_lettered' })
    void deadLetter(state, entry, result.error)
  } else {
    entry.reply?.({ outcome: 'failed', retryAfterMs: requestedDelayMs(result.error) })
    void release(state, entry)
  }
}

/** Keeps an event for a redrive, and releases it so that a redelivery by its sender runs again. */
function deadLetter(state: State, entry: Entry, error: unknown): Promise<void> {
  state.minutes.add('deadLettered')
  keepDeadLetter(state, entry.delivery, entry.attempts, error)
  return release(state, entry)
}

export function keepDeadLetter(state: State, delivery: Delivery, attempts: number, error: unknown): void {
  const { clock, logger } = state.policy
  state.deadLetters.put(delivery, { attempts, error, failedAt: clock() }, logger)
}

/** Finishes an entry and releases its lease, so that a redelivery runs at once. Never rejects. */
export async function release(state: State, entry: Entry): Promise<void> {
  finish(state, entry)
  await entry.lease?.release()
}

/** The last step of every entry. Harmless when repeated. */
export function finish(state: State, entry: Entry): void {
  const { entries, scheduler, onIdle } = state
  // The key may belong to a later entry by now.
  if (entry.phase === 'finished') return
  entry.phase = 'finished'
  entries.delete(entry.key)
  state.weight -= entry.weight
  scheduler.remove(entry)
  entry.lease?.end()
  entry.onFinished?.()
  entry.delivery = NO_DELIVERY
  if (entries.size === 0) onIdle?.()
}

/** Ends an unfinished entry: returns it to its sender or, if already acknowledged, dead-letters it. */
export function withdraw(state: State, entry: Entry, error: AckhookError): Promise<void> {
  entry.attempt?.abort(error)
  entry.reply?.({ outcome: 'failed', retryAfterMs: 1000 })
  return entry.acknowledged ? deadLetter(state, entry, error) : release(state, entry)
}

/** Ends an entry that another process now owns: that process has acknowledged it, so nothing may run here any more. */
export function loseLease(state: State, entry: Entry): void {
  state.policy.observe({ kind: 'lease_lost', ...eventRef(entry.delivery) })
  entry.attempt?.abort(ABORT.leaseLost())
  entry.reply?.({ outcome: 'in_flight', retryAfterMs: 1000 })
  finish(state, entry)
}

/**
 * Ends an event whose request is gone, and with the request everything that would have handled or retried the event.
 * The worker logs, observes and notifies, so that this is not silent.
 */
export async function abandon(state: State, entry: Entry): Promise<void> {
  if (entry.phase === 'completing') {
    finish(state, entry)
    return
  }
  const delivery = forLater(entry.delivery)
  // The timeout has aborted the attempt, or its promises ended with the request and may not be settled from here.
  entry.attempt = undefined
  const ended = withdraw(state, entry, new NonRetryableError(REQUEST_ENDED))
  if (entry.acknowledged)
    await state.run(delivery, createAttempt(entry.attempts, 'abandon', 0, REQUEST_ENDED))
  await ended
}

const REQUEST_ENDED = 'The request that ran this event ended before its handlers did.'

/** Drops the event, which a handler may have changed, and the fields of a request already replied to. */
function forLater({ event: _, waitUntil: __, asyncContext: ___, ...rest }: Delivery): Delivery {
  return rest
}

const MINUTE_MS = 60_000
const MINUTES_KEPT = 60
const NONE = { received: 0, handled: 0, deadLettered: 0 }

/** Counts for each of the last 60 minutes. */
export class MinuteCounts {
  readonly #minutes: (typeof NONE & { startedAt: number })[] = []
  #current = { startedAt: 0, ...NONE }

  add(what: keyof typeof NONE): void {
    const now = Date.now()
    if (now >= this.#current.startedAt + MINUTE_MS) {
      this.#current = { startedAt: now - (now % MINUTE_MS), ...NONE }
      this.#minutes.push(this.#current)
      if (this.#minutes.length > MINUTES_KEPT) this.#minutes.shift()
    }
    this.#current[what]++
  }

  list(): readonly MinuteCount[] {
    const oldest = Date.now() - MINUTES_KEPT * MINUTE_MS
    return this.#minutes.filter(({ startedAt }) => startedAt > oldest).map(minute => ({ ...minute }))
  }
}
