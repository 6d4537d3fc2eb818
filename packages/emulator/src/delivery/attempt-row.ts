import type { Random } from '@ackhook/testing'
import { type AttemptMade, type DeliveryRules, type Faults, makeAttempt } from '@ackhook/testing/spi'
import type { Targets } from '../security/targets.ts'
import { LIMITS } from '../shapes/settings.ts'
import type { AttemptRow, DeliveryRow } from '../storage/delivery-row.ts'

/** Inputs of one attempt. */
export interface AttemptPlan {
  readonly delivery: DeliveryRow
  readonly body: Uint8Array
  readonly url: string
  readonly secrets: readonly string[]
  readonly at: number
  readonly faults: Faults
  /** Decides this attempt's faults and the delay after it. */
  readonly random: Random
}

export interface AttemptParts {
  readonly rules: DeliveryRules
  readonly targets: Targets
  readonly signal: AbortSignal
  readonly now: () => number
}

/** Makes one attempt and resolves to its row. Never rejects. */
export async function attemptRow(plan: AttemptPlan, parts: AttemptParts): Promise<AttemptRow> {
  const { delivery, body, url, at } = plan
  const { rules, targets, signal, now } = parts
  const number = delivery.attempts + 1
  const refusal = targets.refusal(url)
  const made = await makeAttempt(
    {
      ...plan,
      ...{ event: body, number, startedAt: delivery.started_at ?? at, clock: now },
      ...(delivery.headers !== null && { headers: JSON.parse(delivery.headers) as Record<string, string> }),
      ...(refusal !== undefined && { refusal: `not sent: the address ${refusal}` }),
    },
    rules,
    { signal, maxBodyBytes: LIMITS.replyBytes, lookup: targets.lookup },
  )
  return {
    ...replyOf(made),
    seq: delivery.seq,
    number,
    at,
    duration_ms: Math.round(made.result.durationMs * 1000) / 1000,
    acknowledged: made.acknowledged ? 1 : 0,
    code: made.code?.slice(0, 200) ?? null,
    retry_after_ms: made.retryAfterMs ?? null,
    faults: JSON.stringify(made.faults),
    url,
    headers: JSON.stringify(made.request.headers),
    body: made.faults.includes('tampered') ? made.request.body : null,
  }
}

type Reply = Pick<AttemptRow, 'status' | 'error' | 'reply_headers' | 'reply_body' | 'truncated'>

function replyOf({ result }: AttemptMade): Reply {
  if ('error' in result) {
    const none = { reply_headers: '[]', reply_body: new Uint8Array(), truncated: 0 } as const
    return { status: null, error: result.error, ...none }
  }
  const { status, headers, body, truncated } = result
  return {
    ...{ status, error: null, reply_headers: JSON.stringify(headers), reply_body: body },
    truncated: truncated ? 1 : 0,
  }
}
