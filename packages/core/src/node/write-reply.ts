import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebhookReply } from '../delivery.ts'

const DRAIN_MS = 500
const DRAIN_BYTES = 1_048_576

/** Writes a reply as it stands. */
export function writeReply(request: IncomingMessage, response: ServerResponse, reply: WebhookReply): void {
  if (response.headersSent || response.destroyed) return
  if (request.complete || request.readableEnded) {
    response.writeHead(reply.status, reply.headers).end(reply.body)
    return
  }
  response.writeHead(reply.status, { ...reply.headers, connection: 'close' }).write(reply.body)
  // Node cuts the connection as soon as a response with `connection: close` ends.
  discardBody(request, () => response.end())
}

/**
 * The reply came before the body did. Cutting the connection at once would break it before the sender has read
 * the reply; reading on to the end would let anybody upload for ever. So: a little longer, then cut.
 */
function discardBody(request: IncomingMessage, done: () => void): void {
  let bytes = 0
  const timer = setTimeout(() => request.destroy(), DRAIN_MS)
  request
    .on('data', chunk => {
      bytes += chunk.length
      if (bytes > DRAIN_BYTES) request.destroy()
    })
    .on('error', () => {})
    .on('end', done)
    .on('close', () => clearTimeout(timer))
    .resume()
}
