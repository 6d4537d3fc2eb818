import type { WebhookEvent } from '../events/event-types.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { ProcessingPolicy } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'
import { isPromise } from '../lib/maybe-promise.ts'
import type { Logger } from '../observe/logger.ts'

/** What failed, for `onError` and `onDeadLetter`. */
export interface Failure {
  readonly error: unknown
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /** Id, type, namespace and bytes of the event, as they were accepted. */
  readonly delivery: Delivery
  /** Milliseconds until the next attempt; absent when none is planned here. */
  readonly retryInMs?: number
}

/** `event` is `undefined` only when its kept bytes can no longer be read, for example after a schema changed. */
export type FailureHandler<Event = WebhookEvent> = (
  failure: Failure,
  event: Event | undefined,
) => MaybePromise<unknown>

export interface NotifyParts {
  readonly logger: Logger
  readonly handlerTimeoutMs: number
  /** With `'after-processing'` no attempt is planned here: the sender was not acknowledged, and repeats the event. */
  readonly acknowledge: ProcessingPolicy['acknowledge']
}

/**
 * Calls the `onError` or `onDeadLetter` handlers. Whether there is one at least and none of them failed: their own
 * failures are logged and not retried. Without a handler the failure is logged, so that none is silent.
 */
export async function notifyFailure(
  listeners: readonly FailureHandler[],
  failure: Failure,
  event: WebhookEvent | undefined,
  { logger, handlerTimeoutMs, acknowledge }: NotifyParts,
): Promise<boolean> {
  if (listeners.length === 0) logFailure(logger, failure, acknowledge)
  let notified = listeners.length > 0
  for (const listener of listeners) {
    try {
      const result = listener(failure, event)
      if (isPromise(result))
        await withDeadline(Promise.resolve(result), {
          operation: 'onError or onDeadLetter',
          ms: handlerTimeoutMs,
        })
    } catch (err) {
      notified = false
      logger.error({ err, event: failure.delivery.id }, 'An onError or onDeadLetter handler failed.')
    }
  }
  return notified
}

function logFailure(
  logger: Logger,
  { error, attempt, delivery, retryInMs }: Failure,
  acknowledge: NotifyParts['acknowledge'],
): void {
  const { id, type } = delivery
  const fields = { err: error, event: id, type, attempt }
  const failed = `Attempt ${attempt} at event ${id} (${type}) failed`
  if (retryInMs !== undefined) logger.warn(fields, `${failed}; the next is in ${retryInMs} ms.`)
  else if (acknowledge === 'after-processing')
    logger.warn(fields, `${failed}; none is planned here: the sender repeats the event.`)
  else logger.error(fields, `Event ${id} (${type}) is dead-lettered after attempt ${attempt}.`)
}
