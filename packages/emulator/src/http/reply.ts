import { ConfigurationError } from '@ackhook/core'
import { EmulatorError, STATUS } from '../errors/emulator-error.ts'

/** Headers of every response. They forbid framing, foreign scripts and referrers. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/** Body of a refusal. */
interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly field?: string }
}

export function jsonReply(
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

/** Returns the reply for a refusal, or 500 for any other error. */
export function errorReply(error: unknown): Response {
  if (error instanceof EmulatorError) {
    const { code, message, field } = error
    const body: ErrorBody = { error: { code, message, ...(field !== undefined && { field }) } }
    const isFull = code === 'undelivered_full'
    return jsonReply(body, STATUS[code], isFull ? { 'retry-after': '30' } : {})
  }
  if (error instanceof ConfigurationError) {
    const { message, option: field } = error
    return jsonReply({ error: { code: 'invalid_request', message, field } }, 400)
  }
  return jsonReply({ error: { code: 'internal', message: String(error) } }, 500)
}
