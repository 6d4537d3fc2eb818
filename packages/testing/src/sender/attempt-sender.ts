import type { WebhookEvent } from '@ackhook/core'
import type { Random } from '../lib/seeded-random.ts'
import { formatTimestamp } from '../requests/format-timestamp.ts'
import { type SignedRequest, signedRequest } from '../requests/signed-request.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import { type PostResult, post } from './post.ts'
import { retryAfterMs } from './retry-after.ts'
import type { InjectedFault, SendAttempt } from './send-attempt.ts'
import type { ResolvedSender } from './sender-options.ts'

/** The attempts at one event. */
export interface AttemptSeries {
  readonly event: WebhookEvent<string, object>
  /** Draws the faults of this event. */
  readonly random: Random
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly startedAt: number
}

/** One attempt before it has a result. */
interface Draft {
  readonly number: number
  readonly at: number
  readonly faults: InjectedFault[]
}

/** Makes single attempts, with the faults that the options ask for. */
export class AttemptSender {
  readonly #sender: ResolvedSender
  readonly #health: EndpointHealth
  readonly #signal: AbortSignal
  /** Requests so far: the rotation of the secret counts them. */
  #requests = 0

  constructor(sender: ResolvedSender, health: EndpointHealth, signal: AbortSignal) {
    this.#sender = sender
    this.#health = health
    this.#signal = signal
  }

  async send(series: AttemptSeries, number: number): Promise<SendAttempt> {
    const { url, header, scheme, timeoutMs, clock, faults } = this.#sender
    const draft: Draft = { number, at: clock(), faults: [] }
    const timestamp = this.#timestamp(series, draft)
    const request = signedRequest(series.event, { secret: this.#secrets(draft), timestamp, header, scheme })
    if (series.random() < faults.tamper) tamper(request, series.random, draft)
    const result = await post(url, request, { timeoutMs, signal: this.#signal })
    return this.#record(result, draft, series.random() < faults.lostReply)
  }

  #timestamp({ random, startedAt }: AttemptSeries, { number, at, faults: injected }: Draft): string {
    const { faults, timestampUnit } = this.#sender
    if (faults.frozenTimestamp && number > 1) injected.push('frozen_timestamp')
    const instant = faults.frozenTimestamp ? startedAt : at
    if (random() >= faults.staleTimestamp) return formatTimestamp(instant, timestampUnit)
    injected.push('stale_timestamp')
    return formatTimestamp(instant - faults.staleByMs, timestampUnit)
  }

  #secrets({ faults: injected }: Draft): readonly string[] {
    const { faults, secrets } = this.#sender
    const { rotation } = faults
    const request = this.#requests++
    if (rotation === undefined || request < rotation.after) return secrets
    injected.push('rotated')
    const overlapping = request < rotation.after + rotation.overlap
    return overlapping ? [...secrets, rotation.secret] : [rotation.secret]
  }

  #record(result: PostResult, { number, at, faults }: Draft, lost: boolean): SendAttempt {
    const { durationMs, retryAfter, status = 0 } = result
    if (lost) faults.push('lost_reply')
    const acknowledged = !lost && status >= 200 && status < 300
    this.#health.record(acknowledged)
    const asked = lost ? undefined : retryAfterMs(retryAfter, this.#sender.clock())
    return {
      number,
      at,
      acknowledged,
      ...(lost ? { error: 'the reply was lost' } : replyOf(result)),
      ...(asked !== undefined && { retryAfterMs: asked }),
      durationMs,
      faults,
    }
  }
}

function replyOf(result: PostResult): Pick<SendAttempt, 'status' | 'code' | 'body' | 'error'> {
  const { durationMs: _, retryAfter: __, ...reply } = result
  return reply
}

function tamper(request: SignedRequest, random: Random, { faults }: Draft): void {
  faults.push('tampered')
  const index = Math.floor(random() * request.body.length)
  request.body[index] = (request.body[index] ?? 0) ^ 1
}
