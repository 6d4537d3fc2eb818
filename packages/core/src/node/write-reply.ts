import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebhookReply } from '../http/request.ts'

const LINGER_MS = 500
const LINGER_BYTES = 1_048_576

/** Writes a reply as it stands. */
export function writeReply(request: IncomingMessage, response: ServerResponse, reply: WebhookReply): void {
  if (response.headersSent || response.destroyed) return
  if (request.complete || request.readableEnded) {
    response.writeHead(reply.status, reply.headers)
    writeAtOnce(request, response, reply.body)
    return
  }
  response.writeHead(reply.status, { ...reply.headers, connection: 'close' })
  response.flushHeaders()
  response.write(reply.body)
  linger(request, () => response.end())
}

/** Head and body in one `write`: `end(body)` alone leaves the socket a second, empty piece. perf: note 10. */
function writeAtOnce(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { socket } = response
  // Without a socket the reply waits behind an earlier one on the same connection.
  if (socket === null || request.httpVersionMajor !== 1) {
    response.end(body)
    return
  }
  socket.cork()
  response.write(body, 'latin1')
  socket.uncork()
  response.end()
}

/**
 * The reply is written before the body has arrived. Closing the connection at once would break it while the sender
 * still writes, and lose the reply; reading to the end would let anyone upload forever. So: read a little longer and
 * a little more, then close.
 */
function linger(request: IncomingMessage, end: () => void): void {
  let bytes = 0
  const timer = setTimeout(finish, LINGER_MS)

  function finish(): void {
    clearTimeout(timer)
    request.off('data', onData).off('end', finish).off('close', finish)
    end()
  }
  function onData(chunk: Uint8Array): void {
    bytes += chunk.length
    if (bytes > LINGER_BYTES) request.pause()
  }

  // A sender that gives up in the meantime must not become an uncaught 'error' event.
  request.on('error', () => {})
  request.on('data', onData).on('end', finish).on('close', finish).resume()
}
