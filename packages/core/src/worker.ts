import { platform } from '#platform'
import { ABANDONED, type Attempt, AttemptContext } from './attempt.ts'
import type { DecodeEvent } from './decode-event.ts'
import { AckhookError, NonRetryableError } from './errors.ts'
import { errorsOf } from './errors-of.ts'
import type { WebhookEvent } from './event-types.ts'
import type { HandlerRegistry } from './handlers.ts'
import type { Delivery, Process, Verdict } from './inbox.ts'
import { isPromise, type MaybePromise } from './maybe-promise.ts'
import { type NotifyParts, notifyFailure } from './notify.ts'
import type { Observer } from './observation.ts'
import { Refusal } from './refusal.ts'
import { comesTooLate, type RetryPolicy, retryDelayMs } from './retry.ts'
import { runHandlers } from './run-handlers.ts'
import { limitAttempt } from './time-limit.ts'

export interface WorkerParts extends NotifyParts {
  readonly handlers: HandlerRegistry
  readonly decode: DecodeEvent
  readonly retry: RetryPolicy
  readonly clock: () => number
  readonly observe: Observer | undefined
}

/**
 * Steps 10 and 11 of a delivery: one attempt, from the event to a verdict. A crash anywhere in here costs a
 * durable inbox nothing but a repeated attempt, because nothing is recorded before the verdict.
 */
export function createWorker(parts: WorkerParts): Process {
  const { handlers, decode, retry, handlerTimeoutMs, clock, observe } = parts
  const { onUnhandled, onError, onDeadLetter } = handlers.listeners
  const alarms = platform.createAlarms(handlerTimeoutMs)

  function process(delivery: Delivery, attempt: Attempt): MaybePromise<Verdict> {
    const startedAt = observe === undefined ? 0 : performance.now()
    const { id, type, namespace } = delivery
    let event = delivery.event
    observe?.({ kind: 'attempt_started', id, type, namespace, attempt: attempt.number })

    function run(read: WebhookEvent): MaybePromise<void> {
      event = read
      if (attempt.abandoned) throw new NonRetryableError(ABANDONED)
      const running = handle(read, delivery, attempt)
      return isPromise(running) ? limitAttempt(running, attempt, alarms) : running
    }
    function completed(): Verdict {
      observe?.({
        kind: 'completed',
        id,
        type,
        namespace,
        attempt: attempt.number,
        durationMs: performance.now() - startedAt,
        ...lag(event, clock),
      })
      return COMPLETED
    }
    const failed = (thrown: unknown): Promise<Verdict> =>
      fail(legible(thrown), { delivery, attempt, event, startedAt })

    try {
      const running = event === undefined ? read(delivery).then(run) : run(event)
      return isPromise(running) ? running.then(completed, failed) : completed()
    } catch (thrown) {
      return failed(thrown)
    }
  }

  async function read(delivery: Delivery): Promise<WebhookEvent> {
    const event = await decode(delivery.body)
    if (!(event instanceof Refusal)) return event
    throw new AckhookError(event.code, event.detail ?? event.code, { cause: event.cause })
  }

  function handle(event: WebhookEvent, delivery: Delivery, attempt: Attempt): MaybePromise<void> {
    const matching = handlers.match(event.type)
    const context = new AttemptContext(delivery, attempt)
    if (matching.length > 0) return runHandlers(matching, event, context)
    observe?.({ kind: 'unhandled', id: delivery.id, type: event.type, namespace: delivery.namespace })
    return runHandlers(onUnhandled, event, context)
  }

  async function fail(
    thrown: unknown,
    { delivery, attempt, event, startedAt }: FailedAttempt,
  ): Promise<Verdict> {
    const withdrawn = isWithdrawn(thrown)
    const error = withdrawn ? thrown : reasonOf(thrown, attempt)
    const { id, type, namespace } = delivery
    const { number } = attempt
    const about = { id, type, namespace, attempt: number, error, durationMs: performance.now() - startedAt }
    if (withdrawn) {
      observe?.({ kind: 'attempt_withdrawn', ...about })
      return { outcome: 'retry', delayMs: 0, error }
    }
    const delayMs = retryDelayMs(error, number, retry)
    if (delayMs === undefined || comesTooLate(delayMs, attempt.lastRetryAt)) {
      observe?.({ kind: 'dead_lettered', ...about })
      const noted = await notifyFailure(onDeadLetter, { error, attempt: number, delivery }, event, parts)
      return { outcome: 'dead', error, noted }
    }
    observe?.({ kind: 'attempt_failed', ...about, retryInMs: delayMs })
    await notifyFailure(onError, { error, attempt: number, delivery, retryInMs: delayMs }, event, parts)
    return { outcome: 'retry', delayMs, error }
  }

  return process
}

const COMPLETED: Verdict = { outcome: 'completed' }

interface FailedAttempt {
  readonly delivery: Delivery
  readonly attempt: Attempt
  readonly event: WebhookEvent | undefined
  /** Monotonic milliseconds; 0 when nobody observes. */
  readonly startedAt: number
}

/** The inbox took the attempt back and has told of it: no attempt of ours follows, nor are they used up. */
function isWithdrawn(error: unknown): boolean {
  return error instanceof AckhookError && (error.code === 'lease_lost' || error.code === 'drain_timeout')
}

/** An abandoned event is dead whatever else is wrong with it, also where its bytes can no longer be read. */
function reasonOf(thrown: unknown, { abandoned }: Attempt): unknown {
  if (abandoned && !(thrown instanceof NonRetryableError))
    return new NonRetryableError(ABANDONED, { cause: thrown })
  return decisive(thrown)
}

/** When several handlers failed, one that rules out another attempt decides for all. */
function decisive(error: unknown): unknown {
  return errorsOf(error).find(one => one instanceof NonRetryableError) ?? error
}

/** Some values cannot even be asked what they are: a revoked proxy, a getter that throws. */
function legible(thrown: unknown): unknown {
  try {
    errorsOf(thrown).some(one => one instanceof Error)
    return thrown
  } catch {
    return new Error('A handler threw something that cannot be read.')
  }
}

function lag(event: WebhookEvent | undefined, clock: () => number): { lagMs?: number } {
  const createdAt = Date.parse(event?.created_at ?? '')
  return Number.isNaN(createdAt) ? {} : { lagMs: clock() - createdAt }
}
