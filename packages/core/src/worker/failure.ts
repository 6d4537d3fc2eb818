import { describeError } from '../errors/errors.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { Inbox, ProcessingPolicy } from '../inbox/inbox.ts'
import { withDeadline } from '../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from '../observe/logger.ts'

/** Failure passed to `onError` and `onDeadLetter`. */
export interface Failure {
  readonly error: unknown
  /** Number of the failed attempt, from 1. */
  readonly attempt: number
  /** Id, type, namespace and bytes of the event, as they were accepted. */
  readonly delivery: Delivery
  /** Milliseconds until the next attempt; absent if none is planned here. */
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
  readonly logFailure: (failure: Failure) => void
}

/** Parts from which {@link createAttemptLog} creates `logFailure`. */
export interface LogParts {
  readonly logger: Logger
  /** Acknowledgement mode. With `'after-processing'` no attempt is planned here: the sender repeats the event. */
  readonly acknowledge: ProcessingPolicy['acknowledge']
  readonly inbox?: Pick<Inbox, 'redriveCommand'>
}

/**
 * Calls the `onError` or `onDeadLetter` handlers. Resolves to whether there is at least one and none failed: their own
 * failures are logged and not retried. Without a handler the failure is logged, so that none is silent.
 */
export async function notifyFailure(
  listeners: readonly FailureHandler[],
  failure: Failure,
  event: WebhookEvent | undefined,
  { logger, handlerTimeoutMs, logFailure }: NotifyParts,
): Promise<boolean> {
  if (listeners.length === 0) logFailure(failure)
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

/** Maximum number of error names that are counted separately. Handlers may throw any number. */
const MOST_NAMES = 50

/** Logs each dead letter, and other failures by the name of their error: at once, then once a minute with a count. */
export function createAttemptLog({ logger, acknowledge, inbox }: LogParts): (failure: Failure) => void {
  const report = onceAMinute<{ text: string; fields: { error: string } }>(({ text, fields }, _, count) => {
    const counted = `${fields.error} failed ${count} more times since the last report. The last: ${text}`
    logger.warn(fields, count === 1 ? text : counted)
  }, MOST_NAMES)
  return ({ error: err, attempt, delivery, retryInMs }) => {
    const { id: event, type, namespace } = delivery
    const fields = { err, event, type, namespace, attempt }
    if (retryInMs === undefined && acknowledge === 'immediately') {
      const command = inbox?.redriveCommand?.(delivery)
      const redrive = command === undefined ? '' : ` To run it again: ${command}`
      logger.error(fields, `Event ${event} (${type}) is dead-lettered after attempt ${attempt}.${redrive}`)
      return
    }
    const next = retryInMs === undefined ? NOT_HERE : `the next is in ${retryInMs} ms.`
    const text = `Attempt ${attempt} at event ${event} (${type}) failed; ${next}`
    const error = `${describeError(err).split(':', 1)}`
    report(error, { text, fields: { ...fields, error } })
  }
}

const NOT_HERE = 'no retry is planned here: the platform sends the event again.'
