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

/**
 * Head and body in one `write`. `end(body)` alone leaves two pieces to the socket, the second of them empty, and
 * a write of several pieces takes 1.5 µs longer: a twelfth of what answering a request costs Node.
 */
function writeAtOnce(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { socket } = response
  // No socket: the answer waits behind that to an earlier request of the same connection.
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
 * The reply came before the body did, and `end` closes the connection. Closed at once it would break while the
 * sender still writes, and the reply would be lost; read to the end it would let anybody upload for ever. So:
 * a little longer and a little more of it, then close.
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
