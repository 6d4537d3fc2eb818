import type { WebhookEvent } from '@ackhook/core'
import type { Random } from '../lib/seeded-random.ts'
import { formatTimestamp } from '../requests/format-timestamp.ts'
import { type SignedRequest, signedRequest } from '../requests/signed-request.ts'
import type { DeliveryRules } from './delivery-rules.ts'
import type { Faults } from './faults.ts'
import type { InjectedFault } from './send-attempt.ts'

/** One attempt at an event before it is signed. */
export interface AttemptDraft {
  /** The event, or its exact bytes. */
  readonly event: WebhookEvent<string, object> | Uint8Array
  /** 1 for the first. */
  readonly number: number
  /** Start of this attempt and of the first one, in milliseconds since the epoch by the sender's clock. */
  readonly at: number
  readonly startedAt: number
  readonly secrets: readonly string[]
  /** Source of the faults. */
  readonly random: Random
}

/** A request, and the faults injected into it. */
export interface SignedAttempt {
  readonly request: SignedRequest
  readonly faults: InjectedFault[]
}

/** Signs one attempt, with the faults drawn for it. */
export function signAttempt(
  draft: AttemptDraft,
  {
    timestampUnit,
    header,
    scheme,
    fields,
  }: Pick<DeliveryRules, 'timestampUnit' | 'header' | 'scheme' | 'fields'>,
  faults: Pick<Faults, 'frozenTimestamp' | 'staleTimestamp' | 'staleByMs' | 'tamper'>,
): SignedAttempt {
  const { event, number, at, startedAt, secrets, random } = draft
  const injected: InjectedFault[] = []
  let instant = at
  if (faults.frozenTimestamp) {
    instant = startedAt
    if (number > 1) injected.push('frozen_timestamp')
  }
  if (random() < faults.staleTimestamp) {
    instant -= faults.staleByMs
    injected.push('stale_timestamp')
  }
  const timestamp = formatTimestamp(instant, timestampUnit)
  const request = signedRequest(event, { secret: secrets, timestamp, header, scheme, fields })
  if (random() < faults.tamper) {
    injected.push('tampered')
    tamper(request, random)
  }
  return { request, faults: injected }
}

function tamper(request: SignedRequest, random: Random): void {
  const index = Math.floor(random() * request.body.length)
  request.body[index] = (request.body[index] ?? 0) ^ 1
}
