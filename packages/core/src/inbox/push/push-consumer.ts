import { platform } from '#platform'
import { BEFORE_FIRST_RELEASE } from '../../errors/earlier-version.ts'
import { describeError } from '../../errors/errors.ts'
import { settlesWithin, withDeadline } from '../../lib/deadline.ts'
import { isPromise } from '../../lib/maybe-promise.ts'
import { onceAMinute } from '../../lib/once-a-minute.ts'
import { createTokens } from '../../lib/tokens.ts'
import { type Attempt, createAttempt } from '../attempt.ts'
import { type CrashDecision, crashPolicy } from '../crash-policy.ts'
import type { Claim, RunCount } from '../dedupe-store.ts'
import { type Delivery, eventRef } from '../delivery.ts'
import type { AttemptResult, ProcessEvent, ProcessingPolicy } from '../inbox.ts'
import type { Held } from '../lease-time.ts'
import { LeasedAttempts } from '../leased/leased-attempts.ts'
import type { LeaseEngine, Take } from '../leased/take.ts'
import type { GuardedStore } from '../memory/guarded-store.ts'
import { StoreLease } from '../store-lease.ts'
import { type Envelope, type OtherVersion, readEnvelope, writeEnvelope } from './envelope.ts'
import type { Publication, PushEngine, PushMessage, PushOutcome } from './push-engine.ts'

export interface PushConsumerParts {
  readonly engine: PushEngine
  /** Absent if the process only receives. */
  readonly store: GuardedStore | undefined
  readonly leaseMs: number
  readonly run: ProcessEvent
  readonly policy: ProcessingPolicy
}

type Dead = Extract<AttemptResult, { outcome: 'dead' }>

/** One message's event, under its claim. */
interface MessageTake extends Take {
  readonly hold: StoreLease
  readonly envelope: Envelope
  readonly runs: RunCount
  readonly deliveries: number
  /** What the engine is told. Absent if the lease was lost. */
  outcome?: PushOutcome
}

const DONE: PushOutcome = { outcome: 'done' }
/** Delay of redeliveries while the id store or the engine fails. */
const UNAVAILABLE_MS = 30_000
/** Time for which an event's runs are counted: no engine keeps a message for longer than 14 days. */
const COUNT_FOR_MS = 1_209_600_000
const MOST_UNAVAILABLE_MS = 900_000
/**
 * Number of processes that may fail to read a message from another version before it becomes a dead letter. Until then it
 * goes back, because another process may be able to read it.
 */
const MAX_LATER_VERSION = 5
/** Who wrote a message that cannot be read, for the log. */
const NOT_OURS = 'another producer sent it, or it is damaged'
const WRITTEN_BY: Readonly<Record<OtherVersion, string>> = {
  later_version: 'a later release wrote it',
  earlier_version: `a version from before the first release wrote it: let ${BEFORE_FIRST_RELEASE} handle it`,
}
/** Maximum length of the error text in a dead letter. */
const MAX_REASON = 1000
/** Time limit of a publication that no sender waits for. */
const PUBLISH_MS = 5000
/** Time for withdrawn attempts to end, and for the last tries to remember handled events. */
const GRACE_MS = 1200

/** Returns the group in which the engine keeps events in order. */
export function groupOf({ order, key }: Delivery): string {
  return order?.key ?? key
}

/**
 * Steps 10 and 11 for engines that call a consumer: from a message to its outcome. An event that gets another attempt
 * is published again with its attempt count, and its old message is removed, so that neither retries nor outages use up
 * the engine's limit.
 *
 * Only a claim knows a run: the engine also counts deliveries that a throttled or frozen consumer never began. The store
 * counts the claims whose process died, and the attempts of a message that cannot be published again.
 */
export class PushConsumer implements LeaseEngine<MessageTake> {
  readonly #parts: PushConsumerParts
  readonly #newToken = createTokens()
  readonly #attempts: LeasedAttempts<MessageTake>
  readonly #running = new Set<Promise<PushOutcome>>()
  #isDraining = false
  readonly #conflicted = onceAMinute((id: string, more) => {
    const message = `Event ${id} was resent with different bytes${more}; it is not run again.`
    this.#parts.policy.logger.warn({ event: id }, message)
  })

  readonly #dropped = onceAMinute(({ id, err }: { readonly id: string; readonly err: unknown }, more) => {
    const message = `Event ${id} is dropped after its last attempt${more}: give the inbox a dead-letter queue, or save the event in onDeadLetter.`
    this.#parts.policy.logger.error({ code: 'dead_letter_dropped', event: id, err }, message)
  })
  readonly #unread = onceAMinute((id: string, more, _, cause) => {
    const { engine, policy } = this.#parts
    const left = cause === NOT_OURS ? 'It is removed' : 'It goes back'
    const fate = engine.keepDead === undefined ? left : 'It is dead-lettered unchanged'
    policy.logger.error(
      { code: 'message_unreadable', message: id },
      `Message ${id} in ${engine.location} cannot be read${more}: ${cause}. ${fate}.`,
    )
  })

  constructor(parts: PushConsumerParts) {
    const { leaseMs, run: work, policy } = parts
    this.#parts = parts
    const onError = (): void => {} // The guarded store observes its failures.
    const own = { engine: this, work, policy, renewMs: leaseMs / 3, recordsUnderLease: true, onError }
    this.#attempts = new LeasedAttempts<MessageTake>(own)
  }

  get concurrency(): number {
    return this.#parts.policy.concurrency
  }

  get handlerTimeoutMs(): number {
    return this.#parts.policy.handlerTimeoutMs
  }

  /** Starts the store in the background: events wait while it is unavailable. */
  startStore(): void {
    const { store, policy } = this.#parts
    const failed = (error: unknown): void => policy.observe({ kind: 'store_down', operation: 'start', error })
    try {
      const starting = store?.start(notice => {
        policy.observe({ kind: 'notice', ...notice })
        policy.logger.warn({ code: notice.code }, notice.message)
      })
      if (isPromise(starting)) starting.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  async consume(message: PushMessage): Promise<PushOutcome> {
    const { store } = this.#parts
    if (store === undefined) throw new TypeError('This process only receives: its concurrency is 0.')
    const envelope = readEnvelope(message.body)
    if (envelope === undefined || typeof envelope === 'string')
      return this.#unreadable(message, store, envelope)
    if (envelope.waitMs > 0 || this.#isDraining) return this.#again(envelope, envelope.waitMs)
    const consuming = this.#claimAndRun(envelope, store, message)
    this.#running.add(consuming)
    return consuming.finally(() => this.#running.delete(consuming))
  }

  /** Waits for running attempts, then withdraws the rest. Their messages go back. */
  async drain(timeoutMs: number): Promise<void> {
    this.#isDraining = true
    const ended = Promise.all(this.#running)
    await this.#attempts.drain(timeoutMs)
    await settlesWithin(ended, GRACE_MS)
  }

  async #claimAndRun(
    envelope: Envelope,
    store: GuardedStore,
    { deliveries }: PushMessage,
  ): Promise<PushOutcome> {
    const { delivery } = envelope
    const hold = this.#leaseOf(delivery, store)
    const claim = await claimOf(hold)
    if (claim?.outcome !== 'claimed') return this.#unclaimed(envelope, claim, deliveries)
    const { runs = NO_RUNS } = claim
    const attempt = attemptAfter(envelope, runs)
    const lease = hold.time
    const take: MessageTake = {
      delivery,
      attempt,
      lease,
      standing: undefined,
      hold,
      envelope,
      runs,
      deliveries,
    }
    // The drain may have begun meanwhile.
    await this.#attempts.run(take, Promise.resolve(!this.#isDraining))
    hold.end()
    // The lease's new owner may finish meanwhile.
    return take.outcome ?? this.#again(endedBy(take), this.#parts.leaseMs)
  }

  renew(takes: readonly MessageTake[]): Promise<readonly Held[]> {
    return Promise.all(takes.map(({ hold }) => hold.renew()))
  }

  retake({ hold }: MessageTake): Promise<Held> {
    return hold.renew()
  }

  async record(take: MessageTake, result: AttemptResult): Promise<boolean> {
    const { hold, attempt, runs } = take
    take.outcome = DONE
    if (result.outcome === 'completed') {
      const { retentionMs, replayableMs } = this.#parts.policy
      return hold.complete({ retentionMs, replayableMs, namespace: take.delivery.namespace })
    }
    if (result.outcome === 'dead') take.outcome = await this.#bury(take, result)
    else {
      const next = endedBy(take, result)
      await hold.release(attempt.decision === 'run' ? { lapses: 0, attempts: next.attempts } : runs)
      take.outcome = await this.#again(next, result.delayMs)
    }
    return true
  }

  async giveBack(take: MessageTake, begun: boolean): Promise<void> {
    const { hold, attempt, runs, envelope, deliveries } = take
    const next = begun ? endedBy(take) : envelope
    await hold.release(begun && attempt.decision === 'run' ? { lapses: 0, attempts: next.attempts } : runs)
    take.outcome = await this.#again(next, this.#isDraining ? 0 : this.#outageMs(deliveries))
  }

  #leaseOf({ key, fingerprint }: Pick<Delivery, 'key' | 'fingerprint'>, store: GuardedStore): StoreLease {
    const { leaseMs } = this.#parts
    const parts = { store, key, fingerprint, leaseMs, newToken: this.#newToken, countForMs: COUNT_FOR_MS }
    return new StoreLease(parts)
  }

  /** Handles a message whose lease was not granted: nothing runs here. */
  #unclaimed(
    envelope: Envelope,
    claim: Claim | undefined,
    deliveries: number,
  ): PushOutcome | Promise<PushOutcome> {
    const { delivery } = envelope
    switch (claim?.outcome) {
      case 'completed':
      case 'conflict': {
        const conflict = claim.outcome === 'conflict'
        if (conflict) this.#conflicted('', delivery.id)
        this.#parts.policy.observe({
          kind: 'duplicate',
          ...eventRef(delivery),
          conflict,
          durationMs: 0,
        })
        return DONE
      }
      case 'in_flight':
        return this.#again(envelope, Math.max(1000, Math.ceil(claim.retryAfterMs)))
      default:
        return this.#again(envelope, this.#outageMs(deliveries))
    }
  }

  /**
   * Delay in an outage. It grows if the engine keeps messages in order: such a message cannot be published again, so each
   * delivery brings it closer to the engine's own limit.
   */
  #outageMs(deliveries: number): number {
    const factor = this.#parts.engine.inOrder === true ? 2 ** Math.min(10, deliveries - 1) : 1
    return Math.min(MOST_UNAVAILABLE_MS, UNAVAILABLE_MS * factor)
  }

  /** Delays an event, as a new message if possible. */
  async #again(envelope: Envelope, delayMs: number): Promise<PushOutcome> {
    const { engine } = this.#parts
    if (engine.inOrder === true) return { outcome: 'later', delayMs: Math.min(delayMs, engine.maxDelayMs) }
    const now = Math.min(delayMs, engine.maxDelayMs)
    const message = writeEnvelope({ ...envelope, waitMs: delayMs - now })
    return this.#publish(publication => engine.publish(message, publication), {
      delayMs: now,
      group: groupOf(envelope.delivery),
    })
  }

  /** Keeps an event as a dead letter. If the engine refuses it, its next delivery tries again. */
  async #bury({ envelope, attempt, runs, hold }: MessageTake, result: Dead): Promise<PushOutcome> {
    const outcome = await this.#keepLetter(envelope, result, attempt)
    const kept = attempt.decision === 'run' ? { lapses: 0, attempts: attempt.number } : runs
    await hold.release(outcome.outcome === 'done' ? undefined : kept)
    return outcome
  }

  /** Publishes a dead letter. Moved back unchanged, it starts at its first attempt. */
  #keepLetter(
    { delivery }: Envelope,
    { error, notified }: Dead,
    { number }: Attempt,
  ): PushOutcome | Promise<PushOutcome> {
    const { engine, policy } = this.#parts
    if (engine.keepDead === undefined) {
      if (!notified) this.#reportDropped(delivery.id, error)
      return DONE
    }
    const death = {
      reason: describeError(error).slice(0, MAX_REASON),
      attempts: number,
      failedAt: policy.clock(),
    }
    const letter = { delivery, attempts: 0, waitMs: 0 }
    const whole = writeEnvelope(letter, death)
    const message = (engine.sizeOf?.(whole) ?? whole.length) > engine.maxBytes ? writeEnvelope(letter) : whole
    return this.#keepDead(message, groupOf(delivery))
  }

  /** Handles a poison message: no handler can run for it, and each further delivery would end here again. */
  async #unreadable(
    { id, body }: PushMessage,
    store: GuardedStore,
    by: OtherVersion | undefined,
  ): Promise<PushOutcome> {
    const { engine } = this.#parts
    const later: PushOutcome = { outcome: 'later', delayMs: UNAVAILABLE_MS }
    if (by !== undefined && (await this.#mayGoBack(id, store))) return later
    this.#unread(by === undefined ? NOT_OURS : WRITTEN_BY[by], id)
    if (engine.keepDead !== undefined) return this.#keepDead(body, id)
    // An event: the version that wrote it can still handle it.
    return by === undefined ? DONE : later
  }

  /** Returns whether another process is to try to read a message. The store counts those that could not. */
  async #mayGoBack(id: string, store: GuardedStore): Promise<boolean> {
    const key = await platform.hashText(`message:${id}`)
    // Never completed, so no body is compared.
    const lease = this.#leaseOf({ key, fingerprint: 0 }, store)
    const claim = await claimOf(lease)
    if (claim?.outcome !== 'claimed') return true
    const read = (claim.runs?.attempts ?? 0) + 1
    const isLast = read >= MAX_LATER_VERSION
    await lease.release(isLast ? undefined : { lapses: 0, attempts: read })
    return !isLast
  }

  #keepDead(message: Uint8Array, group: string): Promise<PushOutcome> {
    const { engine } = this.#parts
    return this.#publish(publication => engine.keepDead!(message, publication), { delayMs: 0, group })
  }

  /**
   * Publishes a message. The old one is removed only once the engine has confirmed the new one; otherwise the engine
   * itself tries again.
   */
  async #publish(
    publish: (publication: Publication) => Promise<void>,
    publication: Publication,
  ): Promise<PushOutcome> {
    const { engine, policy } = this.#parts
    try {
      // The engine may have stored it anyway: its id is then recognized as a duplicate.
      await withDeadline(publish(publication), { operation: 'publish', ms: PUBLISH_MS })
      return DONE
    } catch (error) {
      policy.observe({ kind: 'store_down', operation: 'publish', error })
      return { outcome: 'later', delayMs: Math.min(UNAVAILABLE_MS, engine.maxDelayMs) }
    }
  }

  #reportDropped(id: string, err: unknown): void {
    this.#parts.policy.observe({ kind: 'dropped', cause: 'no_dead_letters', dead: 1, waiting: 0 })
    this.#dropped('', { id, err })
  }
}

const NO_RUNS: RunCount = { lapses: 0, attempts: 0 }

/** Returns the next attempt. Each process that died cost one, and decides whether handlers run again. */
function attemptAfter(envelope: Envelope, runs: RunCount): Attempt {
  const { ended, begun } = attemptsBefore(envelope, runs)
  const decision: CrashDecision = crashPolicy(begun - ended)
  return createAttempt(decision === 'run' ? begun + 1 : begun, decision)
}

/**
 * Returns how many attempts ended, and how many began. The message may know more than the store: the release of a run that
 * it counts may have failed, and its lease then expired.
 */
function attemptsBefore(
  { attempts }: Envelope,
  runs: RunCount,
): { readonly ended: number; readonly begun: number } {
  return {
    ended: Math.max(attempts, runs.attempts),
    begun: Math.max(attempts, runs.attempts + runs.lapses),
  }
}

/**
 * Returns the event with the attempts that have ended. Without a result the attempt was withdrawn and does not count, nor
 * does a withdrawn notification, whose event stays as close to the end of its crashes as it was.
 */
function endedBy({ envelope, runs, attempt }: MessageTake, result?: AttemptResult): Envelope {
  const { ended, begun } = attemptsBefore(envelope, runs)
  if (attempt.decision !== 'run') return { ...envelope, attempts: ended }
  return { ...envelope, attempts: result?.outcome === 'retry' ? attempt.number : begun }
}

/** Claims the lease. `undefined` if the store fails, which the guarded store observes. */
async function claimOf(lease: StoreLease): Promise<Claim | undefined> {
  try {
    return await lease.claim()
  } catch {
    return undefined
  }
}
