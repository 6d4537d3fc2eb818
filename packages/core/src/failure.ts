import type { WebhookEvent } from './event-types.ts'
import type { Delivery } from './inbox.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** What failed, for `onError` and `onDeadLetter`. */
export interface Failure {
  readonly error: unknown
  /** The attempt that failed, from 1. */
  readonly attempt: number
  /** Id, type, namespace and bytes of the event, as they were accepted. */
  readonly delivery: Delivery
  /** Milliseconds until the next attempt; absent when there is none. */
  readonly retryInMs?: number
}

/** `event` is `undefined` only when its kept bytes can no longer be read, for example after a schema changed. */
export type FailureHandler<Event = WebhookEvent> = (
  failure: Failure,
  event: Event | undefined,
) => MaybePromise<unknown>
