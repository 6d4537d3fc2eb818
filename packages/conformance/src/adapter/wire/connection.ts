import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ReplyReader, WAIT_MS, type WireReply } from './reply-reader.ts'

/** A request as sent. Only `Host` and the header of `framing` are added. */
export interface WireRequest {
  readonly method?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
  /** Marks the body's end. Default `'length'`; `'none'` sends the body without a mark. */
  readonly framing?: 'length' | 'chunked' | 'none'
  /** Bytes per chunk, each sent in its own write. Default: all at once. */
  readonly chunkBytes?: number
}

/** Sends a request on its own connection and reads the whole reply. */
export async function exchange(url: string, request: WireRequest): Promise<WireReply> {
  const connection = await openConnection(url)
  try {
    return await connection.send(request)
  } finally {
    connection.socket.destroy()
  }
}

/** Origins whose certificates are not checked. */
const lenient = new Set<string>()

/** Accepts any certificate of this address from now on. */
export function acceptAnyCertificate(url: string): void {
  lenient.add(new URL(url).origin)
}

export function openConnection(url: string): Promise<Connection> {
  const address = new URL(url)
  const isSecure = address.protocol === 'https:'
  const host = address.hostname.replace(/^\[(.*)\]$/, '$1')
  const place = { host, port: Number(address.port) || (isSecure ? 443 : 80) }
  const servername = isIP(host) === 0 ? host : ''
  const rejectUnauthorized = !lenient.has(address.origin)
  const socket = isSecure ? connectTls({ ...place, servername, rejectUnauthorized }) : connect(place)
  const connection = new Connection(address, socket.setNoDelay(true))
  return new Promise((resolve, reject) => {
    const late = new Error(`no connection within ${WAIT_MS} ms`)
    const timer = setTimeout(() => socket.destroy(late), WAIT_MS)
    const open = (): void => {
      clearTimeout(timer)
      resolve(connection)
    }
    socket.once(isSecure ? 'secureConnect' : 'connect', open).once('error', error => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

/** A connection for one request after another. */
export class Connection {
  readonly socket: Socket
  readonly #address: URL
  readonly #replies: ReplyReader

  constructor(address: URL, socket: Socket) {
    this.#address = address
    this.socket = socket
    this.#replies = new ReplyReader(socket)
  }

  send(request: WireRequest): Promise<WireReply> {
    const reply = this.#replies.next(request.method)
    this.writeHead(request)
    this.writeBody(request)
    return reply
  }

  /** Writes only the head. */
  writeHead({ method = 'POST', headers = [], body = '', framing = 'length' }: WireRequest): void {
    const lines = [
      `${method} ${this.#address.pathname}${this.#address.search} HTTP/1.1`,
      `Host: ${this.#address.host}`,
    ]
    for (const [name, value] of headers) lines.push(`${name}: ${value}`)
    if (framing === 'length') lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
    if (framing === 'chunked') lines.push('Transfer-Encoding: chunked')
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  }

  /** Writes only the body, framed. */
  writeBody({ body = '', framing = 'length', chunkBytes }: WireRequest): void {
    const bytes = Buffer.from(body as Uint8Array)
    const size = chunkBytes ?? Math.max(1, bytes.length)
    for (let start = 0; start < bytes.length; start += size) {
      const chunk = bytes.subarray(start, start + size)
      if (framing === 'chunked') this.socket.write(`${chunk.length.toString(16)}\r\n`)
      this.socket.write(chunk)
      if (framing === 'chunked') this.socket.write('\r\n')
    }
    if (framing === 'chunked') this.socket.write('0\r\n\r\n')
  }

  /** Returns the next reply on this connection. Rejects if the connection closes before a reply is complete. */
  reply(): Promise<WireReply> {
    return this.#replies.next()
  }
}
