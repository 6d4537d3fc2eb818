import { describeError } from '../errors/errors.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { Inbox, ProcessingPolicy } from '../inbox/inbox.ts'
import { copyBody } from '../lib/copy-body.ts'
import { withDeadline } from '../lib/deadline.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import { onceAMinute } from '../lib/once-a-minute.ts'
import type { Logger } from '../observe/logger.ts'
import { refuseLazy } from './returned-value.ts'

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
  readonly handlerTimeoutMs: number
  readonly logFailure: (failure: Failure) => void
  /** Logs what an `onError` or `onDeadLetter` handler threw. */
  readonly logListener: (err: unknown, event: string) => void
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
 * failures are logged and not retried. Without a handler the failure is logged, so that none is silent. `readEvent` reads
 * an event for each of them, so that none sees what another has changed. It must not reject.
 */
export async function notifyFailure(
  listeners: readonly FailureHandler[],
  failure: Failure,
  readEvent: () => Promise<WebhookEvent | undefined>,
  { handlerTimeoutMs, logFailure, logListener }: NotifyParts,
): Promise<boolean> {
  if (listeners.length === 0) logFailure(failure)
  let notified = listeners.length > 0
  for (const listener of listeners) {
    const event = await readEvent()
    try {
      const result = listener({ ...failure, delivery: copyBody(failure.delivery) }, event)
      const returned = isPromise(result)
        ? await withDeadline(Promise.resolve(result), {
            operation: 'onError or onDeadLetter',
            ms: handlerTimeoutMs,
          })
        : result
      refuseLazy(returned)
    } catch (err) {
      notified = false
      logListener(err, failure.delivery.id)
    }
  }
  return notified
}

/** Maximum number of error names that are counted separately. Handlers may throw any number. */
const MOST_NAMES = 50

/** Maximum number of dead letters of one type and error that are logged whole, until a minute passes without one. */
const MOST_WHOLE = 10
const MINUTE_MS = 60_000

/**
 * Logs failures by the name of their error: at once, then once a minute with a count. Of dead letters, the first of each
 * type and error are logged whole.
 */
export function createAttemptLog({ logger, acknowledge, inbox }: LogParts): (failure: Failure) => void {
  const report = onceAMinute<{ text: string; fields: { error: string } }>(({ text, fields }, _, count) => {
    const counted = `${fields.error} failed ${count} more times since the last report. The last: ${text}`
    logger.warn(fields, count === 1 ? text : counted)
  }, MOST_NAMES)
  const reportDead = createDeadLetterLog(logger)
  return ({ error: err, attempt, delivery, retryInMs }) => {
    const { id: event, type, namespace } = delivery
    const fields = { err, event, type, namespace, attempt }
    if (retryInMs === undefined && acknowledge === 'immediately') {
      const command = inbox?.redriveCommand?.(delivery)
      const redrive = command === undefined ? '' : ` To run it again: ${command}`
      reportDead({
        fields,
        text: `Event ${event} (${type}) is dead-lettered after attempt ${attempt}.${redrive}`,
      })
      return
    }
    const next = retryInMs === undefined ? NOT_HERE : `the next is in ${retryInMs} ms.`
    const text = `Attempt ${attempt} at event ${event} (${type}) failed; ${next}`
    const error = nameOf(err)
    report(error, { text, fields: { ...fields, error } })
  }
}

/** Logs failures of listeners by the name of their error: where an error tracker is down, each attempt has one. */
export function createListenerLog(logger: Logger): NotifyParts['logListener'] {
  const report = onceAMinute<{ readonly err: unknown; readonly event: string }>(
    (fields, more) => logger.error(fields, `An onError or onDeadLetter handler failed${more}.`),
    MOST_NAMES,
  )
  return (err, event) => report(nameOf(err), { err, event })
}

function nameOf(err: unknown): string {
  return `${describeError(err).split(':', 1)}`
}

interface DeadLine {
  readonly fields: { readonly err: unknown; readonly type: string }
  readonly text: string
}

/** A handler that fails for every event would otherwise fill a disk. */
function createDeadLetterLog(logger: Logger): (line: DeadLine) => void {
  const seen = new Map<string, { count: number; at: number }>()
  const reportMore = onceAMinute<DeadLine>(({ fields, text }, _, count, of) => {
    const more = `${count} more events were dead-lettered since the last report${of && ` (${of})`}. The last: ${text}`
    logger.error(fields, count === 1 ? text : more)
  }, MOST_NAMES)
  return line => {
    const name = `${line.fields.type}, ${nameOf(line.fields.err)}`
    const key = seen.size < MOST_NAMES || seen.has(name) ? name : ''
    const now = performance.now()
    const last = seen.get(key)
    const count = last === undefined || now - last.at > MINUTE_MS ? 0 : last.count
    seen.set(key, { count: count + 1, at: now })
    if (count < MOST_WHOLE) logger.error(line.fields, line.text)
    else reportMore(key, line)
  }
}

const NOT_HERE = 'no retry is planned here: the platform sends the event again.'
