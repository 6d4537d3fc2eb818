import type { IncomingMessage } from 'node:http'
import { type ExchangeLimits, exchange, redirectOf } from '@ackhook/testing/spi'
import { type CapturedRequest, headersToSend } from '../delivery/captured-request.ts'

const MAX_BYTES = 64 * 1024 ** 2

/** Reads a request with its exact bytes and its headers in their original spelling. */
export async function readRequest(request: IncomingMessage): Promise<CapturedRequest> {
  const receivedAt = Date.now()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MAX_BYTES) throw new Error(`refused a body of more than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return {
    method: request.method ?? '',
    url: request.url ?? '/',
    headers: pairsOf(request.rawHeaders),
    body: new Uint8Array(Buffer.concat(chunks)),
    receivedAt,
  }
}

function pairsOf(raw: readonly string[]): (readonly [string, string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) pairs.push([raw[i] as string, raw[i + 1] as string])
  return pairs
}

export interface ForwardedReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Reason why the app did not reply. */
  readonly error?: string
  /** Address that a reply of 3xx leads to. */
  readonly location?: string
}

const MAX_REPLY_BYTES = 16 * 1024 ** 2
/** Reply headers that the sender may act on, or needs to read the body. */
const PASSED_BACK = ['content-type', 'content-encoding', 'retry-after']

/** Forwards the same bytes with the same headers. Returns 502 if there is no reply, so that the sender keeps the event. */
export async function forward(
  url: string,
  { method, headers, body }: CapturedRequest,
  limits: Pick<ExchangeLimits, 'timeoutMs' | 'signal' | 'insecure'>,
): Promise<ForwardedReply> {
  const request = { method, headers: headersToSend(headers), body: new Uint8Array(body) }
  const reply = await exchange(url, request, { ...limits, maxBodyBytes: MAX_REPLY_BYTES })
  if (!('error' in reply)) {
    const passed = reply.headers.filter(([name]) => PASSED_BACK.includes(name.toLowerCase()))
    return {
      status: reply.status,
      headers: Object.fromEntries(passed),
      body: reply.body,
      ...redirectOf(url, reply),
    }
  }
  const message = `No reply from ${new URL(url).host}: ${reply.error}.`
  return {
    status: 502,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify({ code: 'forward_failed', message })),
    error: reply.error,
  }
}
