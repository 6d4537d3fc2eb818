import type { WebhookEvent } from '@ackhook/core'
import type { Random } from '../lib/seeded-random.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import { type PostResult, post } from './post.ts'
import { retryAfterMs } from './retry-after.ts'
import type { InjectedFault, SendAttempt } from './send-attempt.ts'
import type { ResolvedSender } from './sender-options.ts'
import { signAttempt } from './sign-attempt.ts'

/** The attempts at one event. */
export interface AttemptSeries {
  readonly event: WebhookEvent<string, object>
  /** Draws the faults of this event. */
  readonly random: Random
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly startedAt: number
}

/** One attempt before it has a result. */
interface Begun {
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
    const { url, timeoutMs, clock, faults } = this.#sender
    const at = clock()
    const { secrets, rotated } = this.#secrets()
    const signed = signAttempt({ ...series, number, at, secrets }, this.#sender, faults)
    if (rotated) signed.faults.push('rotated')
    const result = await post(url, signed.request, { timeoutMs, signal: this.#signal })
    return this.#record(result, { number, at, faults: signed.faults }, series.random() < faults.lostReply)
  }

  #secrets(): { readonly secrets: readonly string[]; readonly rotated: boolean } {
    const { faults, secrets } = this.#sender
    const { rotation } = faults
    const request = this.#requests++
    if (rotation === undefined || request < rotation.after) return { secrets, rotated: false }
    const overlapping = request < rotation.after + rotation.overlap
    return { secrets: overlapping ? [...secrets, rotation.secret] : [rotation.secret], rotated: true }
  }

  #record(result: PostResult, { number, at, faults }: Begun, lost: boolean): SendAttempt {
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
