import { connect, type Socket } from 'node:net'
import { createReplyReader, type WireReply } from './reply-reader.ts'

/** A request as it goes onto the wire: nothing is added but `Host` and what `framing` asks for. */
export interface WireRequest {
  readonly method?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
  /** How the end of the body is told. Default `'length'`; `'none'` sends the body and tells nothing. */
  readonly framing?: 'length' | 'chunked' | 'none'
  /** Bytes a chunk, each in a write of its own. Default: all at once. */
  readonly chunkBytes?: number
}

const PATIENCE_MS = 15_000

/** Sends a request on a connection of its own and reads the whole reply. */
export async function exchange(url: string, request: WireRequest): Promise<WireReply> {
  const connection = await openConnection(url)
  try {
    return await connection.send(request)
  } finally {
    connection.socket.destroy()
  }
}

/** A connection that carries one request after another. */
export interface Connection {
  readonly socket: Socket
  send(request: WireRequest): Promise<WireReply>
  /** Writes the head alone. */
  writeHead(request: WireRequest): void
  /** The next reply on this connection. Rejects when it closes before one is complete. */
  reply(): Promise<WireReply>
}

export function openConnection(url: string): Promise<Connection> {
  const { hostname, port, host, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  const reader = createReplyReader(socket, PATIENCE_MS)

  function writeHead({ method = 'POST', headers = [], body = '', framing = 'length' }: WireRequest): void {
    const lines = [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`]
    for (const [name, value] of headers) lines.push(`${name}: ${value}`)
    if (framing === 'length') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
    if (framing === 'chunked') lines.push('Transfer-Encoding: chunked')
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  }

  const connection: Connection = {
    socket,
    writeHead,
    reply: () => reader.next(),
    send(request) {
      const reply = reader.next(request.method)
      writeHead(request)
      writeBody(socket, request)
      return reply
    },
  }
  return new Promise((resolve, reject) => {
    socket.once('connect', () => resolve(connection)).once('error', reject)
  })
}

/** Writes the body alone, framed. */
export function writeBody(socket: Socket, { body = '', framing = 'length', chunkBytes }: WireRequest): void {
  const bytes = Buffer.from(body as Uint8Array)
  const size = chunkBytes ?? Math.max(1, bytes.length)
  for (let start = 0; start < bytes.length; start += size) {
    const chunk = bytes.subarray(start, start + size)
    if (framing === 'chunked') socket.write(`${chunk.length.toString(16)}\r\n`)
    socket.write(chunk)
    if (framing === 'chunked') socket.write('\r\n')
  }
  if (framing === 'chunked') socket.write('0\r\n\r\n')
}
