import { setTimeout as sleep } from 'node:timers/promises'
import type { SignedRequest } from '../requests/signed-request.ts'
import type { DeliveryRules } from './delivery-rules.ts'
import { type Exchange, type ExchangeLimits, exchange } from './exchange.ts'
import type { Faults } from './faults.ts'
import { codeOf, retryAfterOf } from './post.ts'
import { retryAfterMs } from './retry-after.ts'
import type { InjectedFault } from './send-attempt.ts'
import { type AttemptDraft, signAttempt } from './sign-attempt.ts'

/** One attempt before it is made. */
export interface AttemptPlan extends AttemptDraft {
  readonly url: string
  readonly faults: Faults
  /** Headers to send instead of newly signed ones. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Reason why nothing may be sent to the address. */
  readonly refusal?: string | undefined
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly clock: () => number
}

/** One attempt after it was made. */
export interface AttemptMade {
  readonly request: SignedRequest
  readonly faults: readonly InjectedFault[]
  /** Exchange as seen by the sender: without a reply if the fault `lostReply` removed it. */
  readonly result: Exchange
  readonly acknowledged: boolean
  /** The `code` of the reply, if it has one. */
  readonly code?: string
  readonly retryAfterMs?: number
}

/** Signs one attempt, sends it, and judges the reply, with the faults drawn for it. Never rejects. */
export async function makeAttempt(
  plan: AttemptPlan,
  rules: DeliveryRules,
  limits: Omit<ExchangeLimits, 'timeoutMs' | 'insecure'>,
): Promise<AttemptMade> {
  const { url, faults, headers, random, refusal, clock } = plan
  const signed = signAttempt(plan, rules, faults)
  const request = headers === undefined ? signed.request : { ...signed.request, headers: { ...headers } }
  const bounds = { ...limits, timeoutMs: rules.timeoutMs, insecure: rules.insecure }
  const answer = answerFor(plan)
  if (answer !== undefined) signed.faults.push('answered')
  let result: Exchange
  if (refusal !== undefined) result = { error: refusal, durationMs: 0 }
  else if (answer !== undefined) result = await answered(answer, bounds)
  else result = await exchange(url, request, bounds)
  if (random() < faults.lostReply) {
    signed.faults.push('lost_reply')
    result = { error: 'the reply was lost', durationMs: result.durationMs }
  }
  return { request, faults: signed.faults, result, ...judged(result, clock()) }
}

function answerFor({ faults, random }: AttemptPlan): Faults['answer'] {
  const { answer, answerChance } = faults
  // Drawn only if the fault is possible, so that older seeds keep their meaning.
  if (answer === undefined) return undefined
  return random() < answerChance ? answer : undefined
}

/** Replies in place of the app. A timeout lasts as long as the app's would. */
async function answered(
  answer: number | 'timeout' | 'reset',
  { timeoutMs, signal }: ExchangeLimits,
): Promise<Exchange> {
  if (answer === 'reset') return { error: 'ECONNRESET', durationMs: 0 }
  if (answer !== 'timeout') {
    return { status: answer, headers: [], body: new Uint8Array(), truncated: false, durationMs: 0 }
  }
  const isOver = await sleep(timeoutMs, true, { signal }).catch(() => false)
  return isOver
    ? { error: `no reply within ${timeoutMs} ms`, durationMs: timeoutMs }
    : { error: 'the sender was closed', durationMs: 0 }
}

function judged(result: Exchange, now: number): Pick<AttemptMade, 'acknowledged' | 'code' | 'retryAfterMs'> {
  if ('error' in result) return { acknowledged: false }
  const asked = retryAfterMs(retryAfterOf(result), now)
  return {
    acknowledged: result.status >= 200 && result.status < 300,
    ...(startsObject(result.body) && codeOf(new TextDecoder().decode(result.body))),
    ...(asked !== undefined && { retryAfterMs: asked }),
  }
}

/** Returns whether a body may be a JSON object. Decoding each error page would fill the heap. */
function startsObject(body: Uint8Array): boolean {
  const first = body.find(byte => !SPACES.includes(byte))
  return first === 0x7b
}

/** White space of JSON, and the bytes of a byte order mark. */
const SPACES = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]
