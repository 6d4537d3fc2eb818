import type { Random } from '@ackhook/testing'
import {
  codeOf,
  type DeliveryRules,
  type Exchange,
  exchange,
  type Faults,
  retryAfterMs,
  retryAfterOf,
  signAttempt,
} from '@ackhook/testing/spi'
import { LIMITS } from '../lib/limits.ts'
import type { Targets } from '../security/targets.ts'
import type { AttemptRow, DeliveryRow } from '../storage/delivery-row.ts'

/** Everything one attempt needs. */
export interface AttemptPlan {
  readonly delivery: DeliveryRow
  readonly body: Uint8Array
  readonly url: string
  readonly secrets: readonly string[]
  readonly at: number
  readonly faults: Faults
  /** Draws what happens to this attempt, the delay after it included. */
  readonly random: Random
}

export interface AttemptParts {
  readonly rules: DeliveryRules
  readonly targets: Targets
  readonly signal: AbortSignal
  readonly now: () => number
}

/** Makes one attempt and answers its row. Never rejects. */
export async function makeAttempt(plan: AttemptPlan, parts: AttemptParts): Promise<AttemptRow> {
  const { delivery, body, url, secrets, at, faults, random } = plan
  const { rules, targets, signal } = parts
  const number = delivery.attempts + 1
  const startedAt = delivery.started_at ?? at
  const draft = { event: body, number, at, startedAt, secrets, random }
  const signed = signAttempt(draft, rules, faults)
  const request =
    delivery.headers === null
      ? signed.request
      : { ...signed.request, headers: JSON.parse(delivery.headers) as Record<string, string> }
  const refusal = targets.refusal(url)
  const limits = {
    timeoutMs: rules.timeoutMs,
    signal,
    maxBodyBytes: LIMITS.replyBytes,
    lookup: targets.lookup,
  }
  const result: Exchange =
    refusal === undefined
      ? await exchange(url, request, limits)
      : { error: `not sent: the address ${refusal}`, durationMs: 0 }
  const isLost = random() < faults.lostReply
  if (isLost) signed.faults.push('lost_reply')
  return {
    ...resultOf(result, isLost, parts.now()),
    seq: delivery.seq,
    number,
    at,
    duration_ms: Math.round(result.durationMs * 1000) / 1000,
    faults: JSON.stringify(signed.faults),
    url,
    headers: JSON.stringify(request.headers),
    body: signed.faults.includes('tampered') ? request.body : null,
  }
}

type Result = Omit<
  AttemptRow,
  'seq' | 'number' | 'at' | 'duration_ms' | 'faults' | 'url' | 'headers' | 'body'
>

const NO_REPLY = {
  acknowledged: 0,
  status: null,
  code: null,
  retry_after_ms: null,
  reply_headers: '[]',
  reply_body: new Uint8Array(),
  truncated: 0,
} as const

function resultOf(result: Exchange, isLost: boolean, now: number): Result {
  if (isLost) return { ...NO_REPLY, error: 'the reply was lost' }
  if ('error' in result) return { ...NO_REPLY, error: result.error }
  const { status, headers, body, truncated } = result
  return {
    acknowledged: status >= 200 && status < 300 ? 1 : 0,
    status,
    code: codeOf(new TextDecoder().decode(body)).code?.slice(0, 200) ?? null,
    error: null,
    retry_after_ms: retryAfterMs(retryAfterOf(result), now) ?? null,
    reply_headers: JSON.stringify(headers),
    reply_body: body,
    truncated: truncated ? 1 : 0,
  }
}
