import { AckhookError, HandlersFailed } from '../errors/errors.ts'
import type { EventHandler, HandlerContext, WebhookEvent } from '../events/event-types.ts'
import type { Attempt } from '../inbox/attempt.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Timeouts } from '../platform/platform.ts'

/**
 * Starts every handler and settles when the last one has: a failure of one never cuts another short. Throws
 * or rejects with the error, or with an `AggregateError` when several failed.
 */
export function runHandlers(
  handlers: readonly EventHandler[],
  event: WebhookEvent,
  context: HandlerContext,
): MaybePromise<unknown> {
  return handlers.length < 2 ? handlers[0]?.(event, context) : runAll(handlers, event, context)
}

async function runAll(
  handlers: readonly EventHandler[],
  event: WebhookEvent,
  context: HandlerContext,
): Promise<void> {
  const results = await Promise.allSettled(handlers.map(async handler => handler(event, context)))
  const errors = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new HandlersFailed(errors)
}

/**
 * Settles like `running`, unless the attempt is withdrawn first, by the inbox or by the timeout: then it rejects with the
 * reason. JavaScript cannot stop a handler; its signal is aborted and its result no longer counts.
 */
export function withTimeout<T>(running: Promise<T>, attempt: Attempt, timeouts: Timeouts): Promise<T> {
  const timeout = timeouts.set(() => attempt.abort(timedOut(timeouts.ms)))
  const withdrawn = new Promise<never>((_, reject) => attempt.onAbort(reject))
  return Promise.race([running, withdrawn]).finally(() => timeout.cancel())
}

function timedOut(ms: number): AckhookError {
  return new AckhookError(
    'handler_timeout',
    `The handlers took longer than ${ms} ms (option handlerTimeout).`,
  )
}
