import { CODES, type ReplyCode } from '../errors/codes.ts'
import type { WebhookReply, WebhookRequest } from './request.ts'

const prepared = new Map<ReplyCode, WebhookReply>()

const MIN_RETRY_S = 2
const MAX_RETRY_S = 10
const LONGEST_RETRY_S = 3600

/** Returns the reply for a code, built once: it never depends on the request. */
export function replyFor(code: ReplyCode): WebhookReply {
  const known = prepared.get(code)
  if (known !== undefined) return known
  const reply = prepare(code)
  prepared.set(code, reply)
  return reply
}

/**
 * Returns the reply for a code with `Retry-After` in whole seconds. Without a known time it is 2 to 10 seconds at
 * random, so that events refused together do not come back together.
 */
export function replyLater(code: ReplyCode, afterMs?: number): WebhookReply {
  const seconds =
    afterMs === undefined || Number.isNaN(afterMs)
      ? MIN_RETRY_S + Math.floor(Math.random() * (MAX_RETRY_S - MIN_RETRY_S + 1))
      : Math.min(LONGEST_RETRY_S, Math.max(1, Math.ceil(afterMs / 1000)))
  const { status, body } = replyFor(code)
  // No property after a spread: Node 20 makes a hidden class for each such object. perf: note 7.
  const headers = headersOf(body)
  headers['retry-after'] = String(seconds)
  return { status, headers, body }
}

function prepare(code: ReplyCode): WebhookReply {
  const { status, message, reply } = CODES[code]
  const body = JSON.stringify({ code: reply ?? code, message })
  return { status, headers: { ...headersOf(body), ...(status === 405 && { allow: 'POST' }) }, body }
}

function headersOf(body: string): Record<string, string> {
  return { 'content-type': 'application/json', 'content-length': String(body.length) }
}

/**
 * Returns the reply of `receiver.handle(request)`, for adapters. Never rejects: if a wrapper around the receiver's
 * `handle` fails, the sender still gets a 500.
 */
export function replyTo<Context>(
  receiver: { handle(request: WebhookRequest<Context>): Promise<WebhookReply> },
  request: WebhookRequest<Context>,
): Promise<WebhookReply> {
  try {
    return Promise.resolve(receiver.handle(request)).catch(toFault)
  } catch {
    return Promise.resolve(toFault())
  }
}

function toFault(): WebhookReply {
  return replyFor('internal_error')
}
