import { Refusal } from '../errors/refusal.ts'
import type { DecodeEvent } from '../events/decode-event.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import type { Process, Verdict } from '../inbox/inbox.ts'
import type { Logger } from '../observe/logger.ts'
import type { HandlerRegistry } from '../worker/handler-registry.ts'

/** One finished attempt, as a test sees it. */
export interface TappedAttempt {
  /** What the handlers got. Absent when the kept bytes could not be decoded. */
  readonly event: WebhookEvent | undefined
  readonly id: string
  readonly namespace: string
  readonly attempt: number
  /** How many handlers of `on` matched. `0`: the event went to `onUnhandled`. */
  readonly matched: number
  readonly verdict: Exclude<Verdict, { outcome: 'postponed' }>
}

/** Called after every attempt, before the inbox applies its verdict. */
export type Tap = (attempt: TappedAttempt) => void

/** The same process, which also calls the taps. Without taps it is the process itself. */
export function tapProcess(
  run: Process,
  taps: readonly Tap[],
  parts: { readonly handlers: HandlerRegistry; readonly decode: DecodeEvent; readonly logger: Logger },
): Process {
  if (taps.length === 0) return run
  return async (delivery, attempt, limit) => {
    const decoded = delivery.event ?? (await parts.decode(delivery.body))
    const event = decoded instanceof Refusal ? undefined : decoded
    const verdict = await run(delivery, attempt, limit)
    if (verdict.outcome === 'postponed') return verdict
    const { id, namespace } = delivery
    const matched = event === undefined ? 0 : parts.handlers.match(event.type).length
    for (const tap of taps) {
      try {
        tap({ event, id, namespace, attempt: attempt.number, matched, verdict })
      } catch (err) {
        parts.logger.error({ err, event: id }, 'A tap threw; the verdict stands.')
      }
    }
    return verdict
  }
}
