import type { IncomingMessage } from 'node:http'
import type { BodyLimits, ReadBody } from '@ackhook/core'
import { lingeringBody, readRawBody } from '@ackhook/core/node'
import { Refusal, readRequestBody } from '@ackhook/core/spi'
import type { Context } from 'hono'

export type NodeRequest = IncomingMessage

/** Returns the request of Node's HTTP/1 server, if Hono runs on it: hosts store other values in the same place. */
export function nodeRequestOf(c: Context): NodeRequest | undefined {
  const value: unknown = c.env?.incoming
  const isNodes =
    typeof value === 'object' && value !== null && 'readableDidRead' in value && 'httpVersionMajor' in value
  return isNodes ? (value as NodeRequest) : undefined
}

/** Reads the exact bytes of Node's request, or through Hono's Fetch request if another reader has begun. */
export function nodeBody(c: Context, limits: BodyLimits, incoming: NodeRequest): ReturnType<ReadBody> {
  return isBeingRead(incoming) ? readThroughFetch(c, limits, incoming) : readRawBody(incoming, limits)
}

/**
 * Returns whether another reader uses the request's stream. A second reader would wait forever: a wrapping Fetch stream,
 * for example, pauses the request as soon as its own buffer is full.
 */
function isBeingRead(request: NodeRequest): boolean {
  return request.readableDidRead || request.listenerCount('data') > 0 || request.listenerCount('readable') > 0
}

/** Reads a stream that another reader has begun: Hono's Fetch request, which still has the bytes, or an earlier parser. */
async function readThroughFetch(
  c: Context,
  limits: BodyLimits,
  incoming: NodeRequest,
): Promise<Uint8Array | Refusal> {
  const body = await readRequestBody(c.req.raw, limits)
  const isGone = body instanceof Refusal ? body.code === 'body_aborted' : body.length === 0
  if (!isGone || incoming.errored !== null || !incoming.complete) return body
  // Returns the bytes that the parser kept, or a refusal that says why they are missing.
  return readRawBody(incoming, limits)
}

/** Returns the body of a reply before the end of the request's body, which stays open for a moment. */
export function replyingEarly(c: Context, body: string): ReturnType<typeof lingeringBody> {
  try {
    const incoming = nodeRequestOf(c)
    return incoming === undefined ? undefined : lingeringBody(incoming, body)
  } catch {
    return undefined
  }
}
