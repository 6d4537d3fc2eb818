import { Buffer } from 'node:buffer'
import { UsageError } from '../command/usage-error.ts'
import type { CapturedRequest } from './captured-request.ts'

/** A captured request as JSON, written by `listen --save` and read by `replay` and `verify`. */
export interface DeliveryFile {
  readonly format: typeof FORMAT
  /** ISO 8601 UTC. */
  readonly receivedAt: string
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Base64 of the exact bytes. */
  readonly body: string
}

const FORMAT = 'ackhook-delivery-1'

/** Converts a request to a delivery file's content. */
export function toDeliveryFile(delivery: CapturedRequest): DeliveryFile {
  const { method, url, headers, body, receivedAt } = delivery
  return {
    format: FORMAT,
    receivedAt: new Date(receivedAt).toISOString(),
    method,
    url,
    headers,
    body: Buffer.from(body).toString('base64'),
  }
}

/** Parses a delivery file's content. Errors say what is wrong with it. `headers` may also be an object, for hand-written files. */
export function fromDeliveryFile(value: unknown): CapturedRequest {
  if (typeof value !== 'object' || value === null) fail('it is not a JSON object')
  const file = value as Partial<Record<keyof DeliveryFile, unknown>>
  if (file.format !== undefined && file.format !== FORMAT) fail(`'format' is not '${FORMAT}'`)
  const receivedAt = typeof file.receivedAt === 'string' ? Date.parse(file.receivedAt) : Number.NaN
  if (Number.isNaN(receivedAt)) fail("'receivedAt' is not a time such as '2026-03-01T12:00:00.000Z'")
  if (typeof file.body !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(file.body.replace(/\s+/g, ''))) {
    fail("'body' is not base64")
  }
  return {
    method: typeof file.method === 'string' ? file.method : 'POST',
    url: typeof file.url === 'string' ? file.url : '/',
    headers: headersOf(file.headers),
    body: new Uint8Array(Buffer.from(file.body as string, 'base64')),
    receivedAt,
  }
}

function headersOf(headers: unknown): (readonly [string, string])[] {
  const pairs: unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {})
  return pairs.map(pair => {
    const isPair = Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string'
    if (!isPair) fail("'headers' is not a list of [name, value] pairs")
    return [pair[0], pair[1]]
  })
}

function fail(reason: string): never {
  throw new UsageError(
    `this is not a saved delivery: ${reason}. Save one with: npx ackhook listen --save <directory>`,
  )
}
