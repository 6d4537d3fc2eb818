import { platform } from '#platform'
import { AckhookError, errorsOf, hasCode, NonRetryableError } from '../errors/errors.ts'
import { Refusal } from '../errors/refusal.ts'
import type { DecodeEvent } from '../events/decode-event.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import { type Attempt, AttemptContext } from '../inbox/attempt.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { Process, ProcessingPolicy, StartLimit, Verdict } from '../inbox/inbox.ts'
import { comesTooLate, type RetryPolicy, retryDelayMs } from '../inbox/retry.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { Observer } from '../observe/observation.ts'
import type { RunInContext, Timeouts } from '../platform/platform.ts'
import { type NotifyParts, notifyFailure } from './failure.ts'
import type { HandlerRegistry } from './handler-registry.ts'
import { limitAttempt, runHandlers } from './run-handlers.ts'

export interface WorkerParts extends NotifyParts {
  readonly handlers: HandlerRegistry
  readonly decode: DecodeEvent
  readonly retry: RetryPolicy
  readonly acknowledge: ProcessingPolicy['acknowledge']
  /** The async context of the receiver. Attempts start in the turn of any request, whose context is not theirs. */
  readonly runInContext: RunInContext
  readonly clock: () => number
  readonly observe: Observer | undefined
}

/**
 * Steps 10 and 11 of a delivery: one attempt, from the event to a verdict. A crash anywhere in here costs a
 * durable inbox nothing but a repeated attempt, because nothing is recorded before the verdict.
 */
export function createWorker(parts: WorkerParts): Process {
  const worker = new Worker(parts)
  return (delivery, attempt, limit) => {
    const runInContext = delivery.runInContext ?? parts.runInContext
    return runInContext(() => worker.process({ delivery, attempt, limit, event: delivery.event }))
  }
}

/** One attempt under way. */
interface Running {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly limit: StartLimit | undefined
  /** Set once it is decoded, where the inbox kept only its bytes. */
  event: WebhookEvent | undefined
  /** Monotonic milliseconds. */
  startedAt?: number
}

class Worker {
  readonly #parts: WorkerParts
  readonly #timeouts: Timeouts

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#timeouts = platform.createTimeouts(parts.handlerTimeoutMs)
  }

  process(running: Running): MaybePromise<Verdict> {
    const { attempt } = running
    if (attempt.decision === 'dead-letter') return this.#deadLetter(running)
    if (this.#parts.observe !== undefined) {
      running.startedAt = performance.now()
      this.#parts.observe({ kind: 'attempt_started', ...about(running) })
    }
    try {
      const handling = running.event === undefined ? this.#decode(running) : this.#run(running, running.event)
      if (!isPromise(handling)) return this.#completed(running)
      return limitAttempt(handling, attempt, this.#timeouts).then(
        () => this.#completed(running),
        thrown => this.#failed(running, thrown),
      )
    } catch (thrown) {
      return this.#failed(running, thrown)
    }
  }

  async #decode(running: Running): Promise<void> {
    const event = await this.#parts.decode(running.delivery.body)
    if (event instanceof Refusal)
      throw new AckhookError(event.code, event.detail ?? event.code, { cause: event.cause })
    // A schema that took too long: the attempt has ended without its handlers.
    if (running.attempt.abortReason !== undefined) throw running.attempt.abortReason
    running.event = event
    await this.#run(running, event)
  }

  #run(running: Running, event: WebhookEvent): MaybePromise<unknown> {
    const { delivery, attempt } = running
    if (attempt.decision === 'abandon') throw new NonRetryableError(attempt.abandonReason)
    const { handlers, observe } = this.#parts
    let matching = handlers.match(event.type)
    if (matching.length === 0) {
      const { id, namespace } = delivery
      observe?.({ kind: 'unhandled', id, type: event.type, namespace })
      matching = handlers.listeners.onUnhandled
    }
    return runHandlers(matching, event, new AttemptContext(delivery, attempt))
  }

  #completed(running: Running): Verdict {
    const { observe, clock } = this.#parts
    observe?.({
      kind: 'completed',
      ...about(running),
      durationMs: durationOf(running),
      ...lagOf(running.event, clock),
    })
    return COMPLETED
  }

  async #failed(running: Running, thrown: unknown): Promise<Verdict> {
    const { observe, retry, handlers, acknowledge } = this.#parts
    const { delivery, attempt, limit, event } = running
    const readable = toReadableError(thrown)
    const durationMs = durationOf(running)
    if (isWithdrawn(readable, attempt)) {
      observe?.({ kind: 'attempt_withdrawn', ...about(running), error: readable, durationMs })
      return { outcome: 'retry', delayMs: 0, error: readable }
    }
    const error = decidingError(readable, attempt)
    const delayMs = retryDelayMs(error, attempt.number, retry)
    if (delayMs !== undefined && !comesTooLate(delayMs, limit?.lastStartAt)) {
      const senderRepeats = acknowledge === 'after-processing'
      const next = senderRepeats ? {} : { retryInMs: delayMs }
      observe?.({ kind: 'attempt_failed', ...about(running), error, ...next, durationMs })
      const failure = { error, attempt: attempt.number, delivery, ...next }
      await notifyFailure(handlers.listeners.onError, failure, event, { ...this.#parts, senderRepeats })
      return { outcome: 'retry', delayMs, error }
    }
    observe?.({ kind: 'dead_lettered', ...about(running), error, durationMs })
    const failure = { error, attempt: attempt.number, delivery }
    const notified = await notifyFailure(handlers.listeners.onDeadLetter, failure, event, this.#parts)
    return { outcome: 'dead', error, notified, ...(delayMs !== undefined && { attemptsLeft: true }) }
  }

  /** Notifying `onDeadLetter` took the process down every time, as the handlers did. */
  #deadLetter(running: Running): Verdict {
    const { observe, logger } = this.#parts
    const { id, type, attempt, namespace } = about(running)
    const error = new NonRetryableError(UNNOTIFIED)
    logger.error(
      { event: id, type, attempts: attempt },
      `Event ${id} (${type}) is dead-lettered without a call of onDeadLetter: ${UNNOTIFIED}`,
    )
    observe?.({ kind: 'dead_lettered', id, type, namespace, attempt, error, durationMs: 0 })
    return { outcome: 'dead', error, notified: false }
  }
}

const COMPLETED: Verdict = { outcome: 'completed' }
const UNNOTIFIED =
  'The process died or hung in every recent attempt at this event, and in every call of onDeadLetter for it.'

function about({ delivery: { id, type, namespace }, attempt }: Running): {
  id: string
  type: string
  namespace: string
  attempt: number
} {
  return { id, type, namespace, attempt: attempt.number }
}

function durationOf({ startedAt }: Running): number {
  return startedAt === undefined ? 0 : performance.now() - startedAt
}

/**
 * Whether the inbox withdrew this attempt: then nothing failed, and attempts are left. Only its own reason counts: a
 * handler may throw what aborted another attempt.
 */
function isWithdrawn(error: unknown, { abortReason }: Attempt): boolean {
  if (abortReason === undefined || error !== abortReason) return false
  return abortReason.code === 'lease_lost' || abortReason.code === 'drain_timeout'
}

/** Of several errors, one that rules out another attempt. An abandoned event is dead whatever else is wrong with it. */
function decidingError(thrown: unknown, { decision, abandonReason }: Attempt): unknown {
  const final = errorsOf(thrown).find(one => hasCode(one, 'non_retryable'))
  if (final !== undefined) return final
  return decision === 'abandon' ? new NonRetryableError(abandonReason, { cause: thrown }) : thrown
}

/** Some values throw when they are inspected at all: a revoked proxy, a getter. */
function toReadableError(thrown: unknown): unknown {
  try {
    errorsOf(thrown).some(one => one instanceof Error)
    return thrown
  } catch {
    return new Error('A handler threw something that cannot be read.')
  }
}

function lagOf(event: WebhookEvent | undefined, clock: () => number): { lagMs?: number } {
  try {
    const lagMs = clock() - Date.parse(event?.created_at ?? '')
    return Number.isNaN(lagMs) ? {} : { lagMs }
  } catch {
    // The clock is the user's, and a handler may have changed the event: neither undoes its success.
    return {}
  }
}
