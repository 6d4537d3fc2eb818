import { withDeadline } from './deadline.ts'
import type { WebhookEvent } from './event-types.ts'
import type { Failure, FailureHandler } from './failure.ts'
import type { Logger } from './logger.ts'
import { isPromise } from './maybe-promise.ts'

export interface NotifyParts {
  readonly logger: Logger
  readonly handlerTimeoutMs: number
}

/**
 * Tells `onError` or `onDeadLetter` of a failure. Whether there was anybody to tell and all of them took note:
 * their own failures are logged and not retried. With nobody to tell, the log is told, so that no failure is silent.
 */
export async function notifyFailure(
  listeners: readonly FailureHandler[],
  failure: Failure,
  event: WebhookEvent | undefined,
  { logger, handlerTimeoutMs }: NotifyParts,
): Promise<boolean> {
  if (listeners.length === 0) logFailure(logger, failure)
  let noted = listeners.length > 0
  for (const listener of listeners) {
    try {
      const result = listener(failure, event)
      if (isPromise(result))
        await withDeadline(result, { operation: 'onError or onDeadLetter', ms: handlerTimeoutMs })
    } catch (err) {
      noted = false
      logger.error({ err, event: failure.delivery.id }, 'An onError or onDeadLetter handler failed.')
    }
  }
  return noted
}

function logFailure(logger: Logger, { error, attempt, delivery, retryInMs }: Failure): void {
  const { id, type } = delivery
  const fields = { err: error, event: id, type, attempt }
  if (retryInMs === undefined)
    logger.error(fields, `Event ${id} (${type}) is given up after attempt ${attempt}.`)
  else
    logger.warn(fields, `Attempt ${attempt} at event ${id} (${type}) failed; the next is in ${retryInMs} ms.`)
}
