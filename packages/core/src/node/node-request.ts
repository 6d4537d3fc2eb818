import type { IncomingMessage } from 'node:http'
import type { WebhookRequest } from '../http/request.ts'
import { readRawBody } from './raw-body.ts'

/** A Node request as the receiver takes it. `stream`: where its bytes come from, when a framework laid one around it. */
export function fromNodeRequest<Context>(
  request: IncomingMessage,
  context: Context,
  stream: IncomingMessage = request,
): WebhookRequest<Context> {
  return {
    method: request.method ?? '',
    headers: request.headers,
    body: limits => readRawBody(stream, limits),
    context,
  }
}

/** Whether a value is a request of Node's HTTP/1 server: what hosts put in such a place varies. */
export function isNodeRequest(value: unknown): value is IncomingMessage {
  return (
    typeof value === 'object' && value !== null && 'readableDidRead' in value && 'httpVersionMajor' in value
  )
}

/**
 * Whether something reads the request's stream already. A second reader would wait forever: a Fetch stream around
 * the request, for one, pauses it as soon as its own buffer is full.
 */
export function isBeingRead(request: IncomingMessage): boolean {
  return request.readableDidRead || request.listenerCount('data') > 0 || request.listenerCount('readable') > 0
}
