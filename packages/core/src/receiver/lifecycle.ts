import { platform } from '#platform'
import { AckhookError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { Refusal } from '../errors/refusal.ts'
import type { AcceptResult } from '../inbox/accept-result.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { DrainReport, Inbox, ProcessEvent, ProcessingPolicy } from '../inbox/inbox.ts'
import { belongsToAnother, claimInbox, releaseInbox } from '../inbox/inbox-owner.ts'
import { keepAlive } from '../inbox/keep-alive.ts'
import { settlesWithin, withDeadline } from '../lib/deadline.ts'
import { durationMs } from '../lib/duration.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { ReceiverHandlers } from '../worker/receiver-handlers.ts'
import type { CreatedBy, Replaceable } from './evaluation.ts'
import type { QueueLog } from './queue-log.ts'
import { RepeatedStart } from './repeated-start.ts'

/** Maximum wait for a start, which may take longer than a sender waits. */
const MAX_WAIT_FOR_START_MS = 1000
/** A first delivery is not held back for longer by the count for a line in the log. */
const MAX_WAIT_FOR_COUNT_MS = 250
/** Their database may have to be connected to. */
const MAX_START_OF_EFFECTS_MS = 10_000
/** Time for the events of a receiver whose module was evaluated again. */
const REPLACED_DRAIN_MS = 10_000

export interface LifecycleParts {
  readonly inbox: Inbox
  /** Starts the option `effects`, if there is one. */
  readonly startEffects: (() => MaybePromise<() => void>) | undefined
  readonly policy: ProcessingPolicy
  readonly sharing: Pick<ReceiverHandlers, 'directory'>
  readonly queue: Pick<QueueLog, 'started' | 'drain'>
  /** The evaluation of a module that has created the receiver, if that is known. */
  readonly createdBy: CreatedBy | undefined
  /** Called after a successful start with the monotonic time of its beginning. */
  readonly started: (begunAt: number) => void
  /** Called once per start: freezes the handlers and returns the function that runs attempts. */
  readonly createProcess: () => ProcessEvent
}

/**
 * State of a receiver. `failed`: the last start failed, and the next delivery or `start()` tries again. `closed`: the
 * drain is over.
 */
export type ReceiverState = 'new' | 'starting' | 'failed' | 'started' | 'draining' | 'closed'

/** Starts, guards and drains the inbox of one receiver. */
export class Lifecycle implements Replaceable<Lifecycle> {
  readonly #parts: LifecycleParts
  #starting: Promise<void> | undefined
  #started = false
  #hasFailed = false
  #isClosed = false
  #isStopping = false
  #draining: Promise<DrainReport> | undefined
  #stopEffects: (() => void) | undefined
  /** Receiver of a later evaluation of the module, which gets the deliveries that still arrive here. */
  #successor: Pick<Lifecycle, 'accept'> | undefined
  /** Error of the last start, if it was observed and so logged. */
  #observedFailure: unknown
  readonly #repeated: RepeatedStart
  /** True once nothing is accepted any more. */
  isDraining = false

  constructor(parts: LifecycleParts) {
    this.#parts = parts
    this.#repeated = new RepeatedStart({
      logger: parts.policy.logger,
      start: () => this.start(),
      isLogged: error => error === this.#observedFailure,
    })
  }

  /** True once deliveries should go elsewhere. Until the drain, those that arrive are still accepted. */
  get isStopping(): boolean {
    return this.#isStopping || this.isDraining
  }

  get state(): ReceiverState {
    if (this.isDraining) return this.#isClosed ? 'closed' : 'draining'
    if (this.#started) return 'started'
    if (this.#hasFailed) return 'failed'
    return this.#starting === undefined ? 'new' : 'starting'
  }

  /**
   * True while events of an earlier run may wait because nobody has started this receiver. False if the engine calls the
   * consumer, if this process only receives, and if another evaluation of the module has a receiver for them.
   */
  get isNeverStarted(): boolean {
    const { inbox, policy, createdBy } = this.#parts
    if (inbox.statsBeforeStart === undefined || policy.concurrency === 0) return false
    return this.state === 'new' && createdBy?.isReplaced !== true
  }

  /** Starts, and tries again until that succeeds or the receiver is closed. Never rejects. */
  keepStarting(options: { readonly keepsProcess: boolean }): void {
    this.#repeated.begin(options)
  }

  beginStop(): void {
    this.#isStopping = true
  }

  async start(): Promise<void> {
    if (this.isDraining)
      throw new AckhookError('draining', 'start() was called after close(): create a new receiver.')
    await this.#start()
    // Deliveries need not wait for this: it concerns events that are sent once this promise has resolved.
    await this.#parts.sharing.directory?.settled()
  }

  /** Runs step 8. The drain may have begun while the body was read: nothing is accepted after that. */
  accept(delivery: Delivery): MaybePromise<AcceptResult | Refusal> {
    if (this.isDraining) return new Refusal('draining')
    if (!this.#started) return this.#acceptOnceStarted(delivery)
    try {
      const acceptance = this.#parts.inbox.accept(delivery)
      return isPromise(acceptance) ? acceptance.catch(unavailable) : acceptance
    } catch (cause) {
      return unavailable(cause)
    }
  }

  /** Throws for an invalid timeout, unless the drain has already begun. */
  close(timeout: Duration): Promise<DrainReport> {
    if (this.#draining === undefined) {
      const timeoutMs = durationMs(timeout, { option: 'timeout', minMs: 0, maxMs: 3_600_000 })
      this.isDraining = true
      this.#repeated.stop()
      this.#draining = this.#drain(timeoutMs).finally(() => {
        this.#isClosed = true
      })
    }
    this.isDraining = true
    return this.#draining
  }

  /**
   * Drains without a line in the log. Deliveries that still arrive, for example from a route that was not evaluated
   * again, go to `successor`, whose inbox has the same file or queue.
   */
  handOver(successor: Pick<Lifecycle, 'accept'>): boolean {
    if (!this.#started || this.#draining !== undefined) return false
    this.#successor = successor
    this.#repeated.stop()
    this.#started = false
    this.#draining = this.#drain(REPLACED_DRAIN_MS)
    this.#draining.catch(() => {})
    return true
  }

  /** Waits for a start only as long as a sender does. The start continues for later deliveries. */
  async #acceptOnceStarted(delivery: Delivery): Promise<AcceptResult | Refusal> {
    if (this.#successor !== undefined) return this.#successor.accept(delivery)
    const isFirst = this.#starting === undefined
    const starting = this.#start()
    try {
      await withDeadline(starting, { operation: 'inbox.start', ms: MAX_WAIT_FOR_START_MS })
    } catch (cause) {
      if (isFirst) {
        const settled = starting.catch(() => {})
        keepAlive(delivery, settled, this.#parts.policy.logger)
      }
      return new Refusal('inbox_unavailable', { detail: NOT_STARTED, cause })
    }
    return this.accept(delivery)
  }

  #start(): Promise<void> {
    if (this.#starting !== undefined) return this.#starting
    const starting = this.#startInbox()
    this.#starting = starting
    // The next request or call tries again: the inbox's server or file may be back by then.
    starting.catch(() => (this.#starting = undefined))
    return starting
  }

  async #startInbox(): Promise<void> {
    const { inbox, startEffects, policy, sharing, started, createProcess } = this.#parts
    const begunAt = performance.now()
    const run = createProcess()
    try {
      claimInbox(inbox, this)
      if (startEffects !== undefined) await this.#startEffects(startEffects)
      await inbox.start(run, policy)
      // What waits after a takeover is this run's own. Asked before the first delivery, which the answer would count.
      if (inbox.durable === true && this.#parts.createdBy?.started(this, policy.handlers) !== true)
        await settlesWithin(this.#parts.queue.started(), MAX_WAIT_FOR_COUNT_MS)
      this.#started = true
      started(begunAt)
    } catch (cause) {
      this.#hasFailed = true
      this.#stopEffects?.()
      sharing.directory?.stop()
      if (belongsToAnother(inbox, this)) throw cause
      releaseInbox(inbox)
      this.#observedFailure = cause
      // Observed here: deliveries that wait for a slow start get their reply before it fails.
      policy.observe({ kind: 'store_down', operation: 'start', error: cause })
      throw cause
    }
  }

  async #startEffects(start: () => MaybePromise<() => void>): Promise<void> {
    const starting = Promise.resolve(start())
    const limit = {
      operation: 'effects.start',
      ms: MAX_START_OF_EFFECTS_MS,
      late: (stop: () => void) => stop(),
    }
    this.#stopEffects = await withDeadline(starting, limit)
  }

  async #drain(timeoutMs: number): Promise<DrainReport> {
    const { inbox, sharing, queue, createdBy } = this.#parts
    createdBy?.closed(this)
    const endsAt = performance.now() + timeoutMs
    // An inbox that hangs while it starts must not keep the process alive.
    if (!this.#started && this.#successor === undefined && this.#starting !== undefined)
      await withDeadline(this.#starting, { operation: 'inbox.start', ms: timeoutMs }).catch(() => {})
    if (belongsToAnother(inbox, this)) return { lost: 0 }
    const close = async (): Promise<DrainReport> => {
      sharing.directory?.beginClose()
      const report = await inbox.close(Math.max(0, Math.ceil(endsAt - performance.now())))
      this.#stopEffects?.()
      sharing.directory?.stop()
      releaseInbox(inbox)
      // Withdrawn attempts end in this turn.
      await new Promise<void>(resolve => platform.afterReplies(resolve))
      return report
    }
    return this.#started ? queue.drain(timeoutMs, close) : close()
  }
}

const NOT_STARTED =
  'the inbox did not start in time: await receiver.start() before the server listens. If you do, err has the cause'

function unavailable(cause: unknown): Refusal {
  return new Refusal('inbox_unavailable', { cause })
}
