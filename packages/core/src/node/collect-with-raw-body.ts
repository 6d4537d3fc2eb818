import getRawBody, { type RawBodyError } from 'raw-body'
import type { RefusalCode } from '../errors/codes.ts'
import { Refusal } from '../errors/refusal.ts'
import type { BodyGuard } from './body-guard.ts'

/** Codes for raw-body's own errors, by their `type`. The guard in front refuses most bodies before raw-body would. */
const CODES: Readonly<Record<string, RefusalCode>> = {
  'entity.too.large': 'body_too_large',
  'request.size.invalid': 'body_aborted',
  'request.aborted': 'body_aborted',
  'stream.encoding.set': 'body_unavailable',
  'stream.not.readable': 'body_unavailable',
}

/** Collects all bytes of a body on Node. Never rejects. */
export function collectBody(
  body: BodyGuard | NodeJS.ReadableStream,
  options: { readonly limit: number; readonly length: number | null },
): Promise<Uint8Array | Refusal> {
  return getRawBody(body as NodeJS.ReadableStream, options).catch(toRefusal)
}

function toRefusal(cause: Refusal | RawBodyError): Refusal {
  if (cause instanceof Refusal) return cause
  const { type, message } = cause
  return new Refusal(CODES[type] ?? 'body_unavailable', { detail: message, cause })
}
