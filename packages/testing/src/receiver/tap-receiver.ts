import type { WebhookEvent } from '@ackhook/core'
import { type AttemptResult, inspectReceiver, Refusal } from '@ackhook/core/spi'

/** One finished attempt, as seen by a test. */
export interface TappedAttempt {
  /** Event that the handlers received. Absent if the stored bytes could not be decoded. */
  readonly event: WebhookEvent | undefined
  readonly id: string
  readonly namespace: string
  readonly attempt: number
  /** Number of matching handlers registered with `on`. `0`: the event went to `onUnhandled`. */
  readonly matched: number
  readonly result: Exclude<AttemptResult, { outcome: 'postponed' }>
}

/**
 * Calls `tap` after every attempt of a receiver that has not started yet, before the inbox applies its result. `tap`
 * must not throw. Throws `ConfigurationError` if `createReceiver` did not make the receiver.
 */
export function tapReceiver(receiver: object, tap: (attempt: TappedAttempt) => void): void {
  inspectReceiver(receiver).wrap((run, { decode, countHandlers }) => async (delivery, attempt, limit) => {
    // Its own, so that the test sees what arrived and not what a handler has changed.
    const decoded = await decode(delivery.body)
    const event = decoded instanceof Refusal ? undefined : decoded
    const result = await run(delivery, attempt, limit)
    if (result.outcome === 'postponed') return result
    const { id, namespace } = delivery
    const matched = event === undefined ? 0 : countHandlers(event.type)
    tap({ event, id, namespace, attempt: attempt.number, matched, result })
    return result
  })
}
