import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { LINGER_BYTES, LINGER_MS, type WebhookReply } from '../http/request.ts'

/** HTTP/2 error code for a stream that ended without a fault. */
const NO_ERROR = 0

/**
 * Writes a reply unchanged. Resolves when the reply is written or the connection is gone, and never rejects: a
 * framework that awaits the handler then treats the request as finished. If something else wrote the head, the response
 * is destroyed, because the sender would wait forever.
 */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: WebhookReply,
): Promise<void> {
  if (response.writableEnded || response.destroyed) return Promise.resolve()
  // Not `once`, which wraps each listener: a second call does nothing.
  const isOver = new Promise<void>(resolve => response.on('finish', resolve).on('close', resolve))
  try {
    if (response.headersSent) {
      response.destroy()
    } else {
      // Transfer encoding next to our `content-length` would mean two lengths in one reply.
      response.removeHeader?.('transfer-encoding')
      write(request, response, reply)
    }
  } catch {
    writePlainly(response, reply)
  }
  return isOver
}

/** Writes to a request that cannot be read, or to a response that another library changed: neither may end the process. */
function writePlainly(response: ServerResponse, { status, headers, body }: WebhookReply): void {
  try {
    if (response.headersSent) throw new Error('The head is written.')
    response.writeHead(status, { ...headers, connection: 'close' })
    response.end(body)
  } catch {
    response.destroy()
  }
}

function write(request: IncomingMessage, response: ServerResponse, reply: WebhookReply): void {
  // Read first: once the head is written, a getter that throws could only destroy the response.
  const { method, httpVersionMajor: major } = request
  const body = method === 'HEAD' ? '' : reply.body
  if (request.complete || request.readableEnded) {
    response.writeHead(reply.status, reply.headers)
    writeAtOnce(response, body, major)
  } else if (major === 2) {
    response.writeHead(reply.status, reply.headers)
    response.end(body)
    // Ends the upload as well. HTTP/2 has no `connection: close`, and other streams may share the connection.
    ;(response as unknown as { stream: ServerHttp2Stream }).stream.close(NO_ERROR)
    // Node keeps an unread stream and its bytes for as long as the connection lasts.
    request.resume()
  } else {
    response.writeHead(reply.status, { ...reply.headers, connection: 'close' })
    // One packet: a flood of refused uploads must not cost two.
    if (body === '') response.flushHeaders()
    else response.write(body, 'latin1')
    linger(request, () => response.end())
  }
}

/** Writes head and body in one `write`: `end(body)` alone gives the socket a second, empty chunk. perf: note 10. */
function writeAtOnce(response: ServerResponse, body: string, major: number): void {
  const { socket } = response
  // Pipelined replies have no socket yet, and on Workers there is none to cork.
  if (typeof socket?.cork !== 'function' || body === '' || major !== 1) {
    response.end(body)
    return
  }
  socket.cork()
  response.write(body, 'latin1')
  socket.uncork()
  response.end()
}

/**
 * Returns a reply's body for a server that takes a stream and ends the response with it, if the request's body is still
 * arriving over HTTP/1: the stream ends after the time that `writeReply` reads on for. Otherwise returns `undefined`.
 */
export function lingeringBody(
  request: IncomingMessage,
  body: string,
): ReadableStream<Uint8Array> | undefined {
  if (request.complete || request.readableEnded || request.httpVersionMajor !== 1) return undefined
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(body))
      linger(request, () => {
        try {
          controller.close()
        } catch {
          // The server cancelled the stream: the connection is gone.
        }
      })
    },
  })
}

/** Reads on after a reply that came before the whole body, then closes. */
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
