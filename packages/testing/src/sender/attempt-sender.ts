import type { WebhookEvent } from '@ackhook/core'
import type { Random } from '../lib/seeded-random.ts'
import type { EndpointHealth } from './endpoint-health.ts'
import type { Exchange } from './exchange.ts'
import { type AttemptMade, makeAttempt } from './make-attempt.ts'
import { redirectOf } from './post.ts'
import type { SendAttempt } from './send-attempt.ts'
import type { ResolvedSender } from './sender-options.ts'

/** The attempts at one event. */
export interface AttemptSeries {
  readonly event: WebhookEvent<string, object>
  /** Source of this event's faults. */
  readonly random: Random
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly startedAt: number
}

const KEPT_CHARACTERS = 2000
/** A character has at most four bytes. */
const READ_BYTES = 4 * KEPT_CHARACTERS

/** Makes single attempts, with the faults that the options request. */
export class AttemptSender {
  readonly #sender: ResolvedSender
  readonly #health: EndpointHealth
  readonly #signal: AbortSignal
  /** Requests so far. The secret's rotation and the fault `answer` count them. */
  #requests = 0

  constructor(sender: ResolvedSender, health: EndpointHealth, signal: AbortSignal) {
    this.#sender = sender
    this.#health = health
    this.#signal = signal
  }

  async send(series: AttemptSeries, number: number): Promise<SendAttempt> {
    const { url, clock, faults } = this.#sender
    const at = clock()
    const request = this.#requests++
    const { secrets, rotated } = this.#secretsOf(request)
    const answer = request < faults.answerNext ? faults.answer : undefined
    const made = await makeAttempt(
      { ...series, url, clock, number, at, secrets, faults: { ...faults, answer } },
      this.#sender,
      { signal: this.#signal, maxBodyBytes: READ_BYTES },
    )
    this.#health.record(made.acknowledged)
    return {
      ...{ number, at, acknowledged: made.acknowledged, durationMs: made.result.durationMs },
      ...replyOf(made, url),
      faults: rotated ? ['rotated', ...made.faults] : made.faults,
    }
  }

  #secretsOf(request: number): { readonly secrets: readonly string[]; readonly rotated: boolean } {
    const { faults, secrets } = this.#sender
    const { rotation } = faults
    if (rotation === undefined || request < rotation.after) return { secrets, rotated: false }
    const overlapping = request < rotation.after + rotation.overlap
    return { secrets: overlapping ? [...secrets, rotation.secret] : [rotation.secret], rotated: true }
  }
}

function replyOf(
  { result, code, retryAfterMs }: AttemptMade,
  url: string,
): Pick<SendAttempt, 'status' | 'code' | 'body' | 'error' | 'retryAfterMs' | 'location'> {
  return {
    ...reasonOrReply(result),
    ...('status' in result && redirectOf(url, result)),
    ...(code !== undefined && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

function reasonOrReply(result: Exchange): Pick<SendAttempt, 'status' | 'body' | 'error'> {
  if ('error' in result) return { error: result.error }
  return { status: result.status, body: new TextDecoder().decode(result.body).slice(0, KEPT_CHARACTERS) }
}
