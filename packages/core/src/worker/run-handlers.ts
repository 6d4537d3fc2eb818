import { AckhookError } from '../errors/errors.ts'
import type { EventHandler, HandlerContext, WebhookEvent } from '../events/event-types.ts'
import type { Attempt } from '../inbox/attempt.ts'
import { isPromise, type MaybePromise, orElse } from '../lib/maybe-promise.ts'
import type { Timeouts } from '../platform/platform.ts'

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

/**
 * Settles like `running`, unless the attempt is withdrawn first: by the inbox, or because the timeout rings.
 * JavaScript cannot stop a handler; its signal is aborted and its result no longer counts.
 */
export function limitAttempt(running: Promise<void>, attempt: Attempt, timeouts: Timeouts): Promise<void> {
  return new Promise((resolve, reject) => {
    const timeout = timeouts.set(() => attempt.abort(timedOut(timeouts.ms)))
    attempt.onAbort(reason => {
      timeout.cancel()
      reject(reason)
    })
    running.then(
      () => {
        timeout.cancel()
        resolve()
      },
      error => {
        timeout.cancel()
        reject(error)
      },
    )
  })
}

function timedOut(ms: number): AckhookError {
  return new AckhookError(
    'handler_timeout',
    `The handlers took longer than ${ms} ms (option handlerTimeout).`,
  )
}
