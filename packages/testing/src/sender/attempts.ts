import type { WebhookEvent } from '@ackhook/core'
import type { Random } from '../seeded-random.ts'
import { type SignedRequest, signedRequest } from '../signed-request.ts'
import type { Health } from './health.ts'
import { type PostResult, post } from './post.ts'
import { retryAfterMs } from './retry-after.ts'
import type { ResolvedSender } from './sender-options.ts'

/** What was made to go wrong with an attempt. */
export type InjectedFault = 'tampered' | 'stale_timestamp' | 'frozen_timestamp' | 'lost_reply' | 'rotated'

/** One request and what the sender knows of it. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly at: number
  readonly acknowledged: boolean
  /** Absent when there was no reply, or when it was lost on purpose. */
  readonly status?: number
  /** The `code` of the reply, where there is one. */
  readonly code?: string
  /** What the delivery log would show: the first 2,000 characters of the reply. */
  readonly body?: string
  readonly retryAfterMs?: number
  /** Why there was no reply. */
  readonly error?: string
  readonly durationMs: number
  readonly faults: readonly InjectedFault[]
}

/** The attempts at one event. */
export interface Course {
  readonly startedAt: number
  make(number: number): Promise<Attempt>
}

export function createAttempts(
  sender: ResolvedSender,
  { health, signal }: { readonly health: Health; readonly signal: AbortSignal },
): { begin(event: WebhookEvent<string, object>, random: Random): Course } {
  const { faults, clock } = sender
  let requests = 0

  function secretsNow(injected: InjectedFault[]): readonly string[] {
    const { rotation } = faults
    const request = requests++
    if (rotation === undefined || request < rotation.after) return sender.secrets
    injected.push('rotated')
    const overlapping = request < rotation.after + rotation.overlap
    return overlapping ? [...sender.secrets, rotation.secret] : [rotation.secret]
  }

  function begin(event: WebhookEvent<string, object>, random: Random): Course {
    const startedAt = clock()
    return {
      startedAt,
      async make(number) {
        const injected: InjectedFault[] = []
        const at = clock()
        const timestamp = timestampAt(faults.frozenTimestamp ? startedAt : at, injected, number)
        const request = signedRequest(event, {
          secret: secretsNow(injected),
          timestamp,
          header: sender.header,
          scheme: sender.scheme,
        })
        if (random() < faults.tamper) tamper(request, random, injected)
        const result = await post(sender.url, request, { timeoutMs: sender.timeoutMs, signal })
        return record(result, { number, at, injected })
      },
    }

    function timestampAt(instant: number, injected: InjectedFault[], number: number): string {
      if (faults.frozenTimestamp && number > 1) injected.push('frozen_timestamp')
      if (random() >= faults.staleTimestamp) return formatTimestamp(instant, sender.timestampUnit)
      injected.push('stale_timestamp')
      return formatTimestamp(instant - faults.staleByMs, sender.timestampUnit)
    }

    function record(
      result: PostResult,
      about: { number: number; at: number; injected: InjectedFault[] },
    ): Attempt {
      const { number, at, injected } = about
      const lost = random() < faults.lostReply
      if (lost) injected.push('lost_reply')
      const { durationMs, retryAfter, ...reply } = result
      const known = lost ? { error: 'the reply was lost' } : reply
      const acknowledged = !lost && (result.status ?? 0) >= 200 && (result.status ?? 0) < 300
      health.record(acknowledged)
      const asked = lost ? undefined : retryAfterMs(retryAfter, clock())
      return {
        number,
        at,
        acknowledged,
        ...known,
        ...(asked !== undefined && { retryAfterMs: asked }),
        durationMs,
        faults: injected,
      }
    }
  }

  return { begin }
}

function tamper(request: SignedRequest, random: Random, injected: InjectedFault[]): void {
  injected.push('tampered')
  const index = Math.floor(random() * request.body.length)
  request.body[index] = (request.body[index] ?? 0) ^ 1
}

/** The text of `t` for an instant in milliseconds since the epoch. */
export function formatTimestamp(instant: number, unit: 'seconds' | 'milliseconds' | 'iso8601'): string {
  if (unit === 'iso8601') return new Date(instant).toISOString()
  return String(unit === 'seconds' ? Math.floor(instant / 1000) : Math.floor(instant))
}
