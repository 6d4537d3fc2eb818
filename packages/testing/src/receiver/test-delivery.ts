import type { AckhookError, WebhookEvent } from '@ackhook/core'
import type { TappedAttempt } from './tap-receiver.ts'

/** Result of one attempt. */
export interface HandledAttempt {
  readonly attempt: number
  /** Number of handlers registered with `on` that ran. `0`: none matched, and `onUnhandled` was called. */
  readonly handlers: number
  /** Error that a handler threw. */
  readonly error?: unknown
}

/** Result of one delivery. */
export interface TestDelivery<Event = WebhookEvent> {
  /**
   * `handled`, `unhandled` (acknowledged, and no handler matched), `dead_lettered`, `failed` (the reply asked
   * the sender to try again), `duplicate` or `refused` (see `error`).
   */
  readonly outcome: 'handled' | 'unhandled' | 'dead_lettered' | 'failed' | 'duplicate' | 'refused'
  /** Status and code that the platform would receive. */
  readonly status: number
  readonly code: string
  /** The event as sent. */
  readonly sent: Event
  /** The event as received by the handlers: after `upcast` and schemas. Absent if no handler was called. */
  readonly received?: Event
  readonly attempts: readonly HandledAttempt[]
  /**
   * Error of the last attempt. For a refused event, an `AckhookError` whose `code` is the true reason: the sender only
   * sees `unauthorized` for a wrong signature or timestamp.
   */
  readonly error?: unknown
}

export function toTestDelivery<Event>(
  sent: Event,
  reply: { readonly status: number; readonly code: string },
  attempts: readonly TappedAttempt[],
  refusal: AckhookError | undefined,
): TestDelivery<Event> {
  const last = attempts.at(-1)
  const error = last === undefined ? refusal : errorOf(last)
  return {
    outcome: outcomeOf(reply.code, last),
    ...reply,
    sent,
    ...(last?.event && { received: last.event as Event }),
    attempts: attempts.map(one => ({
      attempt: one.attempt,
      handlers: one.matched,
      ...(one.result.outcome !== 'completed' && { error: one.result.error }),
    })),
    ...(error !== undefined && { error }),
  }
}

function errorOf({ result }: TappedAttempt): unknown {
  return result.outcome === 'completed' ? undefined : result.error
}

function outcomeOf(code: string, last: TappedAttempt | undefined): TestDelivery['outcome'] {
  if (last === undefined) return code === 'duplicate' ? 'duplicate' : 'refused'
  if (last.result.outcome === 'completed') return last.matched === 0 ? 'unhandled' : 'handled'
  if (code === 'accepted' || code === 'dead_lettered') return 'dead_lettered'
  return 'failed'
}
