import { ConfigurationError } from '@ackhook/core'
import { EmulatorError, STATUS } from '../errors/emulator-error.ts'

/** Body of a refusal. */
export interface ErrorBody {
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
