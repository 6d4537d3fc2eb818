import type { IncomingMessage } from 'node:http'
import type { CapturedRequest } from '../delivery/captured-request.ts'

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
