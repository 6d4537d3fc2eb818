import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { WebhookReply } from '../http/request.ts'

/** HTTP/2 error code for a stream that ended without a fault. */
const NO_ERROR = 0
const LINGER_MS = 500
const LINGER_BYTES = 1_048_576

/**
 * Writes a reply as it stands. Resolves when it is written or the connection is gone, and never rejects: whoever awaits a
 * handler takes the request for finished then. A response whose head something else wrote is ended: its sender would wait
 * forever.
 */
export async function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: WebhookReply,
): Promise<void> {
  if (response.writableEnded || response.destroyed) return
  const isOver = new Promise<void>(resolve => response.once('finish', resolve).once('close', resolve))
  try {
    if (response.headersSent) {
      response.destroy()
    } else {
      // Transfer encoding beside our `content-length` would mean two lengths in one reply.
      response.removeHeader?.('transfer-encoding')
      write(request, response, reply)
    }
  } catch {
    // Changes that another library made to the response must not end the process.
    response.destroy()
  }
  await isOver
}

function write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply): void {
  const body = request.method === 'HEAD' ? '' : reply.body
  if (request.complete || request.readableEnded) {
    response.writeHead(reply.status, reply.headers)
    writeAtOnce(request, response, body)
  } else if (request.httpVersionMajor === 2) {
    response.writeHead(reply.status, reply.headers)
    response.end(body)
    // Ends the upload as well. HTTP/2 has no `connection: close`, and others may share the connection.
    ;(response as unknown as { stream: ServerHttp2Stream }).stream.close(NO_ERROR)
    // Node keeps a stream with bytes that nobody reads, and them, for as long as the connection lasts.
    request.resume()
  } else {
    response.writeHead(reply.status, { ...reply.headers, connection: 'close' })
    response.flushHeaders()
    if (body !== '') response.write(body)
    linger(request, () => response.end())
  }
}

/** Head and body in one `write`: `end(body)` alone leaves the socket a second, empty piece. perf: note 10. */
function writeAtOnce(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { socket } = response
  // Pipelined replies have no socket yet, and on Workers there is none to cork.
  if (typeof socket?.cork !== 'function' || body === '' || request.httpVersionMajor !== 1) {
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
