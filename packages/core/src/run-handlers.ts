import type { HandlerContext } from './attempt.ts'
import type { EventHandler, WebhookEvent } from './event-types.ts'
import { isPromise, type MaybePromise, orElse } from './maybe-promise.ts'

/**
 * Starts every handler and settles when the last one has: a failure of one never cuts another short. Throws
 * or rejects with the error, or with an `AggregateError` when several failed.
 */
export function runHandlers(
  handlers: readonly EventHandler[],
  event: WebhookEvent,
  context: HandlerContext,
): MaybePromise<void> {
  const [first] = handlers
  if (first !== undefined && handlers.length === 1) return first(event, context) as MaybePromise<void>
  const errors: unknown[] = []
  const running: Promise<unknown>[] = []
  for (const handler of handlers) {
    const result = orElse<unknown>(
      () => handler(event, context),
      error => errors.push(error),
    )
    if (isPromise(result)) running.push(result)
  }
  if (running.length === 0) return raise(errors)
  return Promise.all(running).then(() => raise(errors))
}

function raise(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} handlers failed`)
}
