import { isPromise, type MaybePromise } from '../../lib/maybe-promise.ts'
import { WORKERS } from '../../platform/platform.ts'
import { ACCEPT_RESULTS, type AcceptResult } from '../accept-result.ts'
import type { Claim } from '../dedupe-store.ts'
import type { Delivery } from '../delivery.ts'
import { keepAlive } from '../keep-alive.ts'
import { abandon, finish, keepDeadLetter, PAUSED, release } from './completion.ts'
import { Entry, toStoredFingerprint } from './entry.ts'
import type { State } from './state.ts'

/** Result while another delivery of the same event is being claimed in this process, for a second at most. */
const CLAIM_UNDER_WAY: AcceptResult = { outcome: 'in_flight', retryAfterMs: 1000 }

/** The inbox's own ids have no leases. */
const OWN = { leaseMs: 0 }

const FULL_OF_BYTES: AcceptResult = { outcome: 'full', detail: 'capacityBytes is reached' }
const STORE_FULL: AcceptResult = { outcome: 'full', detail: 'the id store is full' }

/** Weight above which events are kept only as bytes, and parsed again before they run. */
const PARSED_WEIGHT = 16_777_216

/** Accepts a delivery, or returns why not: a duplicate, no room, or a failed claim. Synchronous if the store is. */
export function accept(state: State, delivery: Delivery): MaybePromise<AcceptResult> {
  const { policy, store, scheduler, entries, leases } = state
  for (const entry of scheduler.overdue?.() ?? []) keepAlive(delivery, abandon(state, entry), policy.logger)
  const known = entries.get(delivery.key)
  if (known !== undefined) return answerDuplicate(known, delivery)
  const weight = weigh(delivery, policy.capacityBytes)
  const full = entries.size >= policy.capacity ? ACCEPT_RESULTS.full : makeRoom(state, delivery.key, weight)
  if (full !== undefined) return answerHandled(state, delivery) ?? full
  if (state.pauses.isAny && policy.acknowledge === 'after-processing' && state.pauses.covers(delivery.type))
    return answerHandled(state, delivery) ?? PAUSED
  const kept = state.weight > PARSED_WEIGHT ? { ...delivery, event: undefined } : delivery
  const entry = new Entry(kept, leases?.create(delivery.key), weight, state.sequence++)
  const refusal = scheduler.reserve?.(entry)
  if (refusal !== undefined) return answerHandled(state, delivery) ?? refusal
  entries.set(entry.key, entry)
  state.weight += weight
  // A crash from here to the acknowledgement leaves a lease that expires; the sender's retry runs then.
  try {
    const claim = entry.lease === undefined ? store.claim(entry.key, '', OWN) : entry.lease.claim()
    if (!isPromise(claim)) return answerClaim(state, entry, claim)
    return claim
      .then(known => answerClaim(state, entry, known))
      .catch(cause => unavailable(state, entry, cause))
  } catch (cause) {
    return unavailable(state, entry, cause)
  }
}

/** Runs a dead letter again. `false` if there is none, or no room for it. */
export async function redrive(state: State, key: string): Promise<boolean> {
  const delivery = state.deadLetters.deliveryOf(key)
  // Nothing would run it after a drain.
  if (delivery === undefined || state.isDraining) return false
  const { outcome } = await accept(state, delivery)
  if (outcome === 'failed') keepDeadLetter(state, delivery, 1, 'the redrive failed')
  // Counts as redriven once it ran, whether or not it succeeded.
  return ['accepted', 'processed', 'dead_lettered', 'failed'].includes(outcome)
}

function answerDuplicate(known: Entry, { fingerprint }: Delivery): AcceptResult {
  if (!known.acknowledged) return CLAIM_UNDER_WAY
  return known.delivery.fingerprint === fingerprint ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
}

/** Looks up the id if there is no room to claim it. Only synchronous stores support this. */
function answerHandled({ store }: State, { key, fingerprint }: Delivery): AcceptResult | undefined {
  const handled = store.handled(key)
  if (handled === undefined) return undefined
  return handled === toStoredFingerprint(fingerprint) ? ACCEPT_RESULTS.duplicate : ACCEPT_RESULTS.conflict
}

/** An event heavier than the whole limit counts as all of it: it waits for no other to be there, instead of forever. */
function weigh({ weight, body }: Delivery, limit = Number.POSITIVE_INFINITY): number {
  return Math.min(weight ?? body.length, limit)
}

/**
 * Makes room for an event by dropping the oldest dead letters, which were reported: otherwise old failures would block
 * new events until somebody clears them away. `undefined` if there is room.
 */
function makeRoom(
  { weight: held, deadLetters, policy }: State,
  key: string,
  weight: number,
): AcceptResult | undefined {
  const left = (policy.capacityBytes ?? Number.POSITIVE_INFINITY) - held - weight
  if (left < 0) return FULL_OF_BYTES
  if (left < deadLetters.bytes) deadLetters.drop(left, 'capacityBytes is reached', policy.logger, key)
  return undefined
}

function unavailable(state: State, entry: Entry, cause: unknown): AcceptResult {
  finish(state, entry)
  return { outcome: 'unavailable', code: 'store_unavailable', cause }
}

function answerClaim(state: State, entry: Entry, claim: Claim): MaybePromise<AcceptResult> {
  if (claim.outcome === 'claimed') return admit(state, entry)
  finish(state, entry)
  switch (claim.outcome) {
    case 'completed':
      return claim.fingerprint === entry.storedFingerprint
        ? ACCEPT_RESULTS.duplicate
        : ACCEPT_RESULTS.conflict
    case 'in_flight':
      return claim
    case 'full':
      return STORE_FULL
    default:
      throw new TypeError("A store's claim() must return one of the outcomes of Claim.")
  }
}

function admit(state: State, entry: Entry): MaybePromise<AcceptResult> {
  const { policy, scheduler, leases, deadLetters } = state
  if (entry.phase === 'finished') {
    // The drain ended during the claim: nothing is left to handle the event.
    void release(state, entry)
    return CLAIM_UNDER_WAY
  }
  entry.phase = 'held'
  state.minutes.add('received')
  leases?.watch(entry.acceptedAt)
  const { waitUntil } = entry.delivery
  if (waitUntil !== undefined) {
    const finished = new Promise<void>(resolve => (entry.onFinished = resolve))
    keepAlive(entry.delivery, finished, policy.logger)
  }
  // Workers end work passed to waitUntil within half a minute.
  if (state.freezingHost !== undefined && (waitUntil === undefined || state.freezingHost === WORKERS))
    warnOfFreeze(state, waitUntil !== undefined)
  const replaced = deadLetters.deliveryOf(entry.key)
  deadLetters.remove(entry.key)
  scheduler.enqueue(entry)
  const isSame = replaced === undefined || replaced.fingerprint === entry.delivery.fingerprint
  if (policy.acknowledge === 'after-processing')
    return new Promise(resolve => {
      entry.reply = isSame
        ? resolve
        : acceptance => resolve({ ...acceptance, conflict: true } as AcceptResult)
    })
  // A crash after this line loses the event: its sender receives a 2xx, and only this process has it.
  entry.acknowledged = true
  return isSame ? ACCEPT_RESULTS.accepted : ACCEPT_RESULTS.replaced
}

function warnOfFreeze(state: State, isKept: boolean): void {
  const text = isKept
    ? `${state.freezingHost} end handlers 30 seconds after the reply, even with waitUntil, and the events and retries that are left are then lost. Use cloudflareQueueInbox, or set acknowledge: 'after-processing'.`
    : `${state.freezingHost} may freeze or end this process once the reply is written, and events in memory are then lost. Use a durable inbox (on Workers cloudflareQueueInbox, on Lambda sqsInbox), set acknowledge: 'after-processing', or pass waitUntil.`
  state.policy.logger.warn({ code: 'host_freezes' }, text)
  state.freezingHost = undefined
}
