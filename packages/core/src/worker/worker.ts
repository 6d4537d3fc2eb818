import { platform } from '#platform'
import { AckhookError, errorsOf, HandlersFailed, isReadable, NonRetryableError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import type { DecodeEvent } from '../events/decode-event.ts'
import type { EventHandler, EventSchemas, HandlerContext, WebhookEvent } from '../events/event-types.ts'
import type { ActivityCounter } from '../inbox/activity-counter.ts'
import { type Attempt, AttemptContext, isTimedOut, maxOverrunMs, timedOut } from '../inbox/attempt.ts'
import { type Delivery, eventRef } from '../inbox/delivery.ts'
import type { AttemptResult, DrainDeadline, ProcessEvent } from '../inbox/inbox.ts'
import type { Route, RouteOf } from '../inbox/presence.ts'
import { exceedsDeadline, hasUnusableDelay, isFinal, type RetryPolicy, retryDelayMs } from '../inbox/retry.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Observer } from '../observe/observation.ts'
import type { Observers } from '../observe/observers.ts'
import type { AsyncContext, Timeout, Timeouts } from '../platform/platform.ts'
import {
  createAttemptLog,
  createListenerLog,
  type LogParts,
  type NotifyParts,
  notifyFailure,
} from './failure.ts'
import type { HandlerRegistry } from './handler-registry.ts'
import { createReturnedLog, refuseLazy } from './returned-value.ts'
import { createUnhandledLog } from './unhandled-log.ts'

export interface WorkerParts extends LogParts {
  readonly handlers: HandlerRegistry
  readonly schemas: EventSchemas
  readonly decode: DecodeEvent
  /** Routes events by type on an inbox with several processes. Consulted after decoding and before handlers. */
  readonly sharing?: { readonly route: RouteOf | undefined }
  readonly retry: RetryPolicy
  readonly handlerTimeoutMs: number
  /** Whether an event with invalid data becomes a dead letter at once. */
  readonly keepsInvalid: boolean
  readonly clock: () => number
  /** Called when the inbox passes an event to the worker. */
  readonly onAttempt?: (() => void) | undefined
  /** The option `observe`. If set, it receives events without a handler. */
  readonly observe: Observer | undefined
  readonly observers: Pick<Observers, 'observe'>
  readonly activity?: Pick<ActivityCounter, 'count' | 'time'> | undefined
}

/**
 * Creates steps 10 and 11 of a delivery: one attempt, from the event to its result. A crash anywhere in here costs a
 * durable inbox only a repeated attempt, because nothing is recorded before the result.
 */
export function createWorker(parts: WorkerParts): ProcessEvent {
  const worker = new Worker(parts)
  return (delivery, attempt, deadline) => worker.process(new Running(delivery, attempt, deadline))
}

/** Runs attempts in the receiver's async context: they start in any request's turn, whose context is not theirs. */
export function inOwnContext(context: AsyncContext, run: ProcessEvent): ProcessEvent {
  return (delivery, attempt, deadline) => (delivery.asyncContext ?? context)(run, delivery, attempt, deadline)
}

/** One attempt under way. */
class Running {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly deadline: DrainDeadline | undefined
  /** Set once decoded, if the inbox kept only the event's bytes. */
  event: WebhookEvent | undefined
  /** Monotonic time in milliseconds at which the handlers started. */
  startedAt: number | undefined
  /** Set if the event does not run here. */
  route: Route | undefined
  /** Time limit of handlers that are under way. */
  timeout: Timeout | undefined

  constructor(delivery: Delivery, attempt: Attempt, deadline: DrainDeadline | undefined) {
    this.delivery = delivery
    this.attempt = attempt
    this.deadline = deadline
    this.event = delivery.event
  }

  /** Returns whether this is the first end of handlers that were under way: they settle, or are withdrawn. */
  end(): boolean {
    if (this.timeout === undefined) return false
    this.timeout.cancel()
    this.timeout = undefined
    return true
  }
}

/** Handlers that ignore their signal, and how long they keep their event. */
interface Overrun {
  readonly fields: object
  readonly since: string
  readonly ms: number
}

/** Handlers that heed their signal have ended by then. */
const NOTICED_MS = 5000

class Worker {
  readonly #parts: WorkerParts
  readonly #notify: NotifyParts
  readonly #timeouts: Timeouts
  readonly #reportDelay = onceAMinute((fields: object, more) => {
    const message = `A RetryAfterError has no usable time${more}: pass '60s' or a Date. The option retry sets the delay instead.`
    this.#parts.logger.warn({ code: 'retry_after_invalid', ...fields }, message)
  })
  readonly #logUnhandled: (id: string, type: string) => void
  readonly #logReturned: (type: string, value: unknown) => void
  readonly #maxOverrunMs: number
  readonly #reportTaken = onceAMinute(({ fields, since, ms }: Overrun, more) => {
    const message = `Handlers still run ${NOTICED_MS / 1000} s after ${since}${more}: they ignore their signal. As long as they run, for ${inSeconds(ms)} at most, they keep their event and its slot of concurrency. Pass signal to what they wait for.`
    this.#parts.logger.warn({ code: 'handler_overrun', ...fields }, message)
  })
  readonly #reportOverrun = onceAMinute(({ fields, since, ms }: Overrun, more) => {
    const message = `Handlers still run ${inSeconds(ms)} after ${since}${more}: they ignore their signal. The event and its slot of concurrency are given away: its next attempt and other events may run beside them. Pass signal to what they wait for.`
    this.#parts.logger.error({ code: 'handler_overrun', ...fields }, message)
  })

  constructor(parts: WorkerParts) {
    const { logger, handlerTimeoutMs } = parts
    this.#parts = parts
    this.#notify = {
      handlerTimeoutMs,
      logFailure: createAttemptLog(parts),
      logListener: createListenerLog(logger),
    }
    this.#timeouts = platform.createTimeouts(parts.handlerTimeoutMs)
    this.#logUnhandled = createUnhandledLog(parts)
    this.#logReturned = createReturnedLog(logger)
    this.#maxOverrunMs = maxOverrunMs(handlerTimeoutMs)
  }

  /** Runs one attempt. Never throws or rejects. */
  process(running: Running): MaybePromise<AttemptResult> {
    const { attempt } = running
    this.#parts.onAttempt?.()
    if (attempt.decision === 'dead-letter') return this.#deadLetter(running)
    try {
      const working = this.#begin(running)
      return isPromise(working)
        ? this.#inTime(running, Promise.resolve(working))
        : this.#ended(running, working)
    } catch (thrown) {
      return this.#failed(running, thrown)
    }
  }

  /** Runs the handlers at once if nothing has to be awaited before. Returns what {@link runHandlers} does. */
  #begin(running: Running): MaybePromise<unknown> {
    const { event, attempt } = running
    const isReady = event !== undefined && attempt.decision === 'run' && !this.#parts.sharing?.route
    return isReady ? this.#handle(running, event) : this.#prepare(running)
  }

  /** Decodes the event and finds its route. Sets the route, and runs no handler, if the event does not run here. */
  async #prepare(running: Running): Promise<unknown> {
    const { delivery, attempt } = running
    const decoded = running.event ?? (await this.#parts.decode(delivery.body))
    if (!(decoded instanceof Refusal)) running.event = decoded
    if (attempt.decision === 'run') {
      // A process with another contract may be able to decode an event that this one cannot.
      const routing = this.#parts.sharing?.route?.(running.event?.type ?? delivery.type, attempt.routingToken)
      running.route = isPromise(routing) ? await routing : routing
      if (running.route !== undefined) return undefined
    }
    // Stops before any handler: the attempt timed out or was withdrawn during decoding.
    if (attempt.abortReason !== undefined) throw attempt.abortReason
    if (!(decoded instanceof Refusal) && attempt.decision === 'run') return this.#handle(running, decoded)
    this.#start(running)
    if (decoded instanceof Refusal) throw this.#undecodable(decoded)
    throw new NonRetryableError(attempt.abandonReason)
  }

  /** A stored event may be decoded by a later version of the application, unless the user wants to decide on it now. */
  #undecodable({ code, detail = code, cause }: Refusal): AckhookError {
    const error = new AckhookError(code, detail, { cause })
    const isInvalid = this.#parts.keepsInvalid && code === 'event_invalid'
    return isInvalid ? new NonRetryableError(detail, { cause: error }) : error
  }

  #handle(running: Running, event: WebhookEvent): MaybePromise<unknown> {
    const { delivery, attempt } = running
    this.#start(running)
    const handlers = this.#handlersOf(delivery, event)
    const context = new AttemptContext(delivery, attempt)
    if (handlers.length < 2) return runHandlers(handlers, [event], context)
    const reading = this.#eventsFor(handlers, delivery, event)
    if (!isPromise(reading)) return runHandlers(handlers, reading, context)
    return reading.then(events => {
      // Stops before any handler, as above.
      if (attempt.abortReason !== undefined) throw attempt.abortReason
      return runHandlers(handlers, events, context)
    })
  }

  /** Returns an event for each handler: what one changes in its own, no other sees. */
  #eventsFor(
    handlers: readonly EventHandler[],
    { body }: Delivery,
    event: WebhookEvent,
  ): MaybePromise<readonly WebhookEvent[]> {
    const others = handlers.slice(1).map(() => this.#parts.decode(body))
    const all = (decoded: readonly (WebhookEvent | Refusal)[]): readonly WebhookEvent[] => [
      event,
      ...decoded.map(one => {
        if (one instanceof Refusal) throw this.#undecodable(one)
        return one
      }),
    ]
    return others.some(isPromise) ? Promise.all(others).then(all) : all(others as WebhookEvent[])
  }

  /** Reads the event again for `onError` or `onDeadLetter`: a handler may have changed its own. Never rejects. */
  async #readAgain({ event, delivery }: Running): Promise<WebhookEvent | undefined> {
    if (event === undefined) return undefined
    try {
      const decoded = await this.#parts.decode(delivery.body)
      // A schema that could check the event before may be out of reach now.
      return decoded instanceof Refusal ? event : decoded
    } catch {
      return event
    }
  }

  /**
   * Resolves to the result once the handlers have settled, or earlier if the attempt is withdrawn, by the inbox or by its
   * time limit. JavaScript cannot stop a handler: its signal is aborted, and what it returns no longer counts.
   */
  #inTime(running: Running, working: Promise<unknown>): Promise<AttemptResult> {
    const { attempt } = running
    return new Promise(resolve => {
      running.timeout = this.#timeouts.set(() => attempt.abort(timedOut(this.#timeouts.ms)))
      attempt.onAbort(reason => {
        if (running.end()) resolve(this.#withdrawn(running, reason, working))
      })
      working.then(
        returned => {
          if (running.end()) resolve(this.#ended(running, returned))
        },
        thrown => {
          if (running.end()) resolve(this.#failed(running, thrown))
        },
      )
    })
  }

  #ended(running: Running, returned: unknown): MaybePromise<AttemptResult> {
    try {
      if (running.route !== undefined) return this.#follow(running, running.route)
      refuseLazy(returned)
      if (returned !== undefined) this.#logReturned(running.event?.type ?? running.delivery.type, returned)
      return this.#completed(running)
    } catch (thrown) {
      return this.#failed(running, thrown)
    }
  }

  async #withdrawn(
    running: Running,
    reason: AckhookError,
    working: Promise<unknown>,
  ): Promise<AttemptResult> {
    const { startedAt } = running
    const result = await this.#failed(running, reason)
    if (startedAt === undefined) return result
    // Reported at the time limit; but while handlers still run, no other attempt may begin.
    if (reason.code === 'handler_timeout') await this.#settled(running, working, this.#maxOverrunMs)
    else if (reason.code === 'lease_lost') {
      const leftMs = this.#timeouts.ms - (performance.now() - startedAt)
      await this.#settled(running, working, Math.max(0, leftMs))
    }
    return result
  }

  /**
   * Waits for handlers that outlive their time limit, or the event's lease: the inbox keeps the event's turn until this
   * attempt ends. Bounded, and over at once if the inbox withdraws the attempt once more: a drain does not wait.
   */
  #settled(
    { delivery: { id, type }, attempt }: Running,
    working: Promise<unknown>,
    ms: number,
  ): Promise<void> {
    const fields = { event: id, type, attempt: attempt.number }
    const since = isTimedOut(attempt) ? 'their time limit' : 'their lease was lost'
    return new Promise(resolve => {
      const noticed = setTimeout(() => this.#reportTaken(type, { fields, since, ms }), NOTICED_MS)
      const bound = setTimeout(() => {
        clearTimeout(noticed)
        this.#reportOverrun(type, { fields, since, ms })
        resolve()
      }, ms)
      const end = (): void => {
        clearTimeout(noticed)
        clearTimeout(bound)
        resolve()
      }
      attempt.onGivenAway(end)
      working.then(end, end)
    })
  }

  /** Reports the attempt, unless no handlers run: the attempt with this number was then reported before. */
  #start(running: Running): void {
    if (running.attempt.decision !== 'run') return
    running.startedAt = performance.now()
    this.#parts.observers.observe?.({ kind: 'attempt_started', ...about(running) })
    if (running.attempt.number === 1) this.#countLag(running)
  }

  #countLag({ delivery: { type, receivedAt, queuedAt } }: Running): void {
    const { activity, clock } = this.#parts
    try {
      activity?.time('lag', type, queuedAt === undefined ? clock() - receivedAt : Date.now() - queuedAt)
    } catch {
      // The clock is the user's: no handler waits for it.
    }
  }

  /** Counts an attempt that has ended. */
  #count(how: 'handled' | 'failed', running: Running): void {
    const { activity } = this.#parts
    const { type } = running.delivery
    activity?.count(how, type)
    activity?.time('time', type, durationOf(running))
  }

  #handlersOf({ id, namespace }: Delivery, { type }: WebhookEvent): readonly EventHandler[] {
    const { handlers, observe, observers } = this.#parts
    const matching = handlers.match(type)
    if (matching.length > 0) return matching
    observers.observe?.({ kind: 'unhandled', id, type, namespace })
    const { onUnhandled } = handlers.listeners
    if (observe === undefined && onUnhandled.length === 0) this.#logUnhandled(id, type)
    return onUnhandled
  }

  async #follow(running: Running, route: Route): Promise<AttemptResult> {
    const { delivery, attempt } = running
    // The inbox may have given the event back meanwhile.
    if (attempt.abortReason !== undefined) return { outcome: 'retry', delayMs: 0, error: attempt.abortReason }
    if (route.outcome === 'dead') {
      const dead = await this.#giveUp(running, route.error, attempt.number - 1)
      return { ...dead, routingToken: route.routingToken }
    }
    this.#parts.observers.observe?.({ kind: 'postponed', ...eventRef(delivery), delayMs: route.delayMs })
    return route
  }

  #completed(running: Running): AttemptResult {
    const { clock, observers } = this.#parts
    this.#count('handled', running)
    observers.observe?.({
      kind: 'completed',
      ...about(running),
      durationMs: durationOf(running),
      ...lagOf(running.event, clock),
    })
    return COMPLETED
  }

  async #failed(running: Running, thrown: unknown): Promise<AttemptResult> {
    const { retry, handlers, acknowledge, activity } = this.#parts
    const { observe } = this.#parts.observers
    const { attempt, deadline } = running
    const delivery = withoutEvent(running.delivery)
    const readable = toReadableError(thrown)
    const durationMs = durationOf(running)
    if (isWithdrawn(readable, attempt)) {
      if (running.startedAt !== undefined)
        observe?.({ kind: 'attempt_withdrawn', ...about(running), error: readable, durationMs })
      return { outcome: 'retry', delayMs: 0, error: readable }
    }
    if (running.startedAt === undefined) this.#start(running)
    this.#count('failed', running)
    const error = decidingError(readable, attempt)
    const { id, type } = delivery
    if (hasUnusableDelay(error)) this.#reportDelay('', { err: error, event: id, type })
    const delayMs = retryDelayMs(error, attempt.number, retry)
    if (delayMs !== undefined && !exceedsDeadline(delayMs, deadline?.lastStartAt)) {
      const next = acknowledge === 'after-processing' ? {} : { retryInMs: delayMs }
      activity?.count('retried', type)
      observe?.({ kind: 'attempt_failed', ...about(running), error, ...next, durationMs })
      const failure = { error, attempt: attempt.number, delivery, ...next }
      await notifyFailure(handlers.listeners.onError, failure, () => this.#readAgain(running), this.#notify)
      return { outcome: 'retry', delayMs, error }
    }
    const result = await this.#giveUp(running, error, attempt.number)
    return delayMs === undefined ? result : { ...result, attemptsLeft: true }
  }

  /** Dead-letters an event. `attempt` is the last one that began. */
  async #giveUp(running: Running, error: unknown, attempt: number): Promise<DeadResult> {
    const { handlers, observers, acknowledge, activity } = this.#parts
    const durationMs = durationOf(running)
    const observe = (kind: 'dead_lettered' | 'attempt_failed'): void =>
      observers.observe?.({ kind, ...about(running), attempt, error, durationMs })
    if (acknowledge === 'immediately') observe('dead_lettered')
    const failure = { error, attempt, delivery: withoutEvent(running.delivery) }
    const notified = await notifyFailure(
      handlers.listeners.onDeadLetter,
      failure,
      () => this.#readAgain(running),
      this.#notify,
    )
    // An event that no `onDeadLetter` handler accepted is not acknowledged, so its sender repeats it.
    const isDead = acknowledge === 'immediately' || notified
    if (acknowledge === 'after-processing') observe(isDead ? 'dead_lettered' : 'attempt_failed')
    activity?.count(isDead ? 'deadLettered' : 'retried', running.delivery.type)
    return { outcome: 'dead', error, notified }
  }

  /** Dead-letters an event without a notification: each one crashed the process, as the handlers did. */
  #deadLetter(running: Running): AttemptResult {
    const { observers, activity } = this.#parts
    const error = new NonRetryableError(UNNOTIFIED)
    activity?.count('deadLettered', running.delivery.type)
    this.#notify.logFailure({ error, attempt: running.attempt.number, delivery: running.delivery })
    observers.observe?.({ kind: 'dead_lettered', ...about(running), error, durationMs: 0 })
    return { outcome: 'dead', error, notified: false }
  }
}

type DeadResult = Extract<AttemptResult, { outcome: 'dead' }>

const COMPLETED: AttemptResult = { outcome: 'completed' }
const UNREADABLE = 'A handler threw an unreadable value.'
const UNNOTIFIED =
  'The process died or hung in every recent attempt at this event, and in every call of onDeadLetter for it.'

/** Drops the event, which a handler may have changed. */
function withoutEvent(delivery: Delivery): Delivery {
  return { ...delivery, event: undefined }
}

type About = Pick<Delivery, 'id' | 'type' | 'namespace'> & { readonly attempt: number }

function about({ delivery: { id, type, namespace }, attempt }: Running): About {
  return { id, type, namespace, attempt: attempt.number }
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

function durationOf({ startedAt }: Running): number {
  return startedAt === undefined ? 0 : performance.now() - startedAt
}

/**
 * Returns whether the inbox withdrew this attempt: then nothing failed, and attempts are left. Only the attempt's own
 * reason counts: a handler may throw another attempt's.
 */
function isWithdrawn(error: unknown, { abortReason }: Attempt): boolean {
  if (abortReason === undefined || error !== abortReason) return false
  return abortReason.code === 'lease_lost' || abortReason.code === 'drain_timeout'
}

/**
 * Returns an error that rules out another attempt, if one of several does. An abandoned event is dead, whatever else is
 * wrong with it.
 */
function decidingError(thrown: unknown, { decision, abandonReason }: Attempt): unknown {
  const final = errorsOf(thrown).find(isFinal)
  if (final !== undefined) return final
  return decision === 'abandon' ? new NonRetryableError(abandonReason, { cause: thrown }) : thrown
}

/** Replaces unreadable errors, so that everything after this may read them. */
function toReadableError(thrown: unknown): unknown {
  const errors = errorsOf(thrown)
  if (errors.every(isReadable)) return thrown
  const readable = errors.map(one => (isReadable(one) ? one : new Error(UNREADABLE)))
  return readable.length === 1 ? readable[0] : new HandlersFailed(readable)
}

function lagOf(event: WebhookEvent | undefined, clock: () => number): { lagMs?: number } {
  try {
    const lagMs = clock() - Date.parse(event?.created_at ?? '')
    return Number.isNaN(lagMs) ? {} : { lagMs }
  } catch {
    // The clock is the user's, and a handler may have changed the event: neither undoes the event's success.
    return {}
  }
}

/**
 * Starts every handler, each with the event at its place, and settles when the last one has, with the value of one that
 * returned any: one handler's failure never cuts another short. Throws or rejects with the error, or with an
 * `AggregateError` if several failed.
 */
export function runHandlers(
  handlers: readonly EventHandler[],
  events: readonly WebhookEvent[],
  context: HandlerContext,
): MaybePromise<unknown> {
  return handlers.length < 2
    ? handlers[0]?.(events[0] as WebhookEvent, context)
    : runAll(handlers, events, context)
}

async function runAll(
  handlers: readonly EventHandler[],
  events: readonly WebhookEvent[],
  context: HandlerContext,
): Promise<unknown> {
  const running = handlers.map(async (handler, i) => {
    const returned = await handler(events[i] as WebhookEvent, context)
    refuseLazy(returned)
    return returned
  })
  const results = await Promise.allSettled(running)
  const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new HandlersFailed(errors)
  for (const result of results) {
    if (result.status === 'fulfilled' && result.value !== undefined) return result.value
  }
  return undefined
}
