import { Refusal } from '../errors/refusal.ts'
import { type BodyLimits, headerOf, type WebhookRequest } from './request.ts'

/** What the head of a request is refused for, before any of its body is read. */
export function checkHead(
  { method, headers }: Pick<WebhookRequest, 'method' | 'headers'>,
  limits: BodyLimits,
): Refusal | undefined {
  if (method !== 'POST') return new Refusal('method_not_allowed', { detail: method })
  const encoding = headerOf(headers, 'content-encoding')
  // An empty one says as much as none.
  if (encoding && !UNENCODED.test(encoding)) {
    return new Refusal('content_encoding_unsupported', {
      detail: `Content-Encoding: ${encoding.slice(0, 40)}`,
    })
  }
  const declared = headerOf(headers, 'content-length')
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return new Refusal('body_too_large', { detail: `Content-Length is over ${limits.maxBytes}` })
  }
  return undefined
}

const UNENCODED = /^\s*(identity)?\s*$/i
