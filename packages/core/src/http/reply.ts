import { CODES, type ReplyCode } from '../errors/codes.ts'
import type { WebhookReply, WebhookRequest } from './request.ts'

const prepared = new Map<ReplyCode, WebhookReply>()

const MIN_RETRY_S = 2
const MAX_RETRY_S = 10
const LONGEST_RETRY_S = 3600

/** The reply for a code, made once: it never depends on the request. */
export function replyFor(code: ReplyCode): WebhookReply {
  const known = prepared.get(code)
  if (known !== undefined) return known
  const reply = prepare(code)
  prepared.set(code, reply)
  return reply
}

/**
 * The reply for a code with `Retry-After` in whole seconds. Without a known time it is between 2 and 10
 * seconds at random, so that what was refused together does not come back together.
 */
export function replyLater(code: ReplyCode, afterMs?: number): WebhookReply {
  const seconds =
    afterMs === undefined || Number.isNaN(afterMs)
      ? MIN_RETRY_S + Math.floor(Math.random() * (MAX_RETRY_S - MIN_RETRY_S + 1))
      : Math.min(LONGEST_RETRY_S, Math.max(1, Math.ceil(afterMs / 1000)))
  const { status, body } = replyFor(code)
  // Not `{ ...prepared, 'retry-after': … }`: Node 20 makes a hidden class for each such object. perf: note 7.
  const headers = headersOf(body)
  headers['retry-after'] = String(seconds)
  return { status, headers, body }
}

function prepare(code: ReplyCode): WebhookReply {
  const { status, message, reply } = CODES[code]
  const body = JSON.stringify({ code: reply ?? code, message })
  const headers = headersOf(body)
  if (status === 405) headers['allow'] = 'POST'
  return { status, headers, body }
}

function headersOf(body: string): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(body.length) }
}

/** Calls `reply` once, after this call has returned. Never throws. */
type Respond<Context> = (request: WebhookRequest<Context>, reply: (reply: WebhookReply) => void) => void

type Handle<Context> = (request: WebhookRequest<Context>) => Promise<WebhookReply>

/** By the identity of a receiver's own `handle`: one that somebody wrapped must be called, not bypassed. */
const responds = new WeakMap<Handle<never>, Respond<never>>()

/** `handle` of a receiver: `respond` with a promise. Adapters do without one, by {@link replyTo}. perf: note 24. */
export function toHandle<Context>(respond: Respond<Context>): Handle<Context> {
  const handle: Handle<Context> = request => new Promise(resolve => respond(request, resolve))
  responds.set(handle, respond)
  return handle
}

/**
 * Hands the reply of `receiver.handle(request)` to `write`, for adapters. The receiver's own `handle` never fails; a
 * wrapper around it may, and the sender waits for an answer all the same. `write` must not throw.
 */
export function replyTo<Context>(
  receiver: { handle(request: WebhookRequest<Context>): Promise<WebhookReply> },
  request: WebhookRequest<Context>,
  write: (reply: WebhookReply) => void,
): void {
  const respond = responds.get(receiver.handle) as Respond<Context> | undefined
  if (respond !== undefined) {
    respond(request, write)
    return
  }
  const failed = (): void => write(replyFor('internal_error'))
  try {
    void receiver.handle(request).then(write, failed)
  } catch {
    failed()
  }
}
