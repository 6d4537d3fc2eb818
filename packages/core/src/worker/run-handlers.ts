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
 * Calls `end` once: when the handlers have ended, with what they threw if they failed; or with the reason when the attempt
 * is withdrawn first, by the inbox or by the timeout. JavaScript cannot stop a handler; its signal is aborted and its
 * result no longer counts. perf: note 35.
 */
export function withTimeout(
  running: Promise<unknown>,
  attempt: Attempt,
  timeouts: Timeouts,
  end: (failure?: { readonly thrown: unknown }) => void,
): void {
  let isOver = false
  const timeout = timeouts.set(() => attempt.abort(timedOut(timeouts.ms)))
  const endOnce = (failure?: { readonly thrown: unknown }): void => {
    if (isOver) return
    isOver = true
    timeout.cancel()
    end(failure)
  }
  const fail = (thrown: unknown): void => endOnce({ thrown })
  attempt.onAbort(fail)
  // A thenable of some library may throw here, which would leave the timeout behind.
  Promise.resolve(running).then(() => endOnce(), fail)
}

function timedOut(ms: number): AckhookError {
  return new AckhookError(
    'handler_timeout',
    `The handlers took longer than ${ms} ms (option handlerTimeout).`,
  )
}
