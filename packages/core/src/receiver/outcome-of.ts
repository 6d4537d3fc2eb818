import type { SuccessCode } from '../errors/codes.ts'
import { Refusal } from '../errors/refusal.ts'
import type { Acceptance } from '../inbox/acceptance.ts'

/** An in-flight event elsewhere may finish long before its lease would lapse. */
const MAX_IN_FLIGHT_WAIT_MS = 30_000

/** What an inbox's answer means for the sender: the code of a 2xx, or a refusal. */
export function outcomeOf(acceptance: Acceptance): SuccessCode | Refusal {
  switch (acceptance.outcome) {
    case 'accepted':
    case 'duplicate':
    case 'processed':
    case 'dead_lettered':
      return acceptance.outcome
    case 'failed':
      return acceptance.retryAfterMs === undefined
        ? new Refusal('handler_failed')
        : new Refusal('handler_deferred', { retryAfterMs: acceptance.retryAfterMs })
    case 'in_flight':
      return new Refusal('in_flight', {
        retryAfterMs: Math.min(acceptance.retryAfterMs, MAX_IN_FLIGHT_WAIT_MS),
      })
    case 'full':
      return new Refusal('capacity_exceeded')
    case 'unavailable':
      return new Refusal(acceptance.code, { cause: acceptance.cause })
  }
}
