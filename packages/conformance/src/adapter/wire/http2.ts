import { connect } from 'node:http2'
import type { WireReply } from './reply-reader.ts'

/** A request on an HTTP/2 stream. */
export interface StreamRequest {
  readonly method?: string
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array
  /** Sends a `content-length`. Default: the end of the stream marks the body's end. */
  readonly declared?: boolean
  /** Leaves the stream open after the body. */
  readonly endless?: boolean
}

/** A stream whose request has been started. */
export interface OpenStream {
  /** Rejects if the stream closes before a reply is complete. */
  readonly reply: Promise<WireReply>
  /** Resolves once all bytes so far are written. */
  readonly written: Promise<void>
  reset(): void
}

/** HTTP/2 error code: the sender no longer needs the stream. */
const CANCEL = 8
const WAIT_MS = 15_000

/** Opens a connection without TLS for the duration of `work`. */
export async function withHttp2<Result>(
  url: string,
  work: (connection: Http2Connection) => Promise<Result>,
): Promise<Result> {
  const connection = new Http2Connection(url)
  try {
    return await work(connection)
  } finally {
    connection.close()
  }
}

/** One connection, on which requests share nothing but the socket. */
export class Http2Connection {
  readonly #session
  readonly #path: string

  constructor(url: string) {
    const { origin, pathname } = new URL(url)
    // Each stream reports the error too.
    this.#session = connect(origin).on('error', () => {})
    this.#path = pathname
  }

  send(request: StreamRequest): Promise<WireReply> {
    return this.open(request).reply
  }

  open({ method = 'POST', headers = [], body = '', declared, endless }: StreamRequest): OpenStream {
    const bytes = Buffer.from(body as Uint8Array)
    const stream = this.#session.request({
      ':method': method,
      ':path': this.#path,
      ...Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
      ...(declared && { 'content-length': String(bytes.length) }),
    })
    const reply = new Promise<WireReply>((resolve, reject) => {
      const late = () => reject(new Error(`no reply within ${WAIT_MS} ms`))
      const timer = setTimeout(late, WAIT_MS)
      let head: Pick<WireReply, 'status' | 'headers'> | undefined
      let text = ''
      stream.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      stream.on('response', fields => {
        const entries = Object.entries(fields).map(([name, value]) => [name, String(value)] as const)
        head = { status: Number(fields[':status']), headers: new Map(entries) }
      })
      stream.on('error', reject)
      stream.on('close', () => {
        clearTimeout(timer)
        reject(new Error('the stream closed before a reply'))
      })
      // The sender is done once it has the reply, even if it has not sent everything.
      stream.on('end', () => {
        if (head !== undefined) resolve({ ...head, body: text, interim: [] })
        stream.close(CANCEL)
      })
    })
    // Handled only by callers that await it.
    reply.catch(() => {})
    const written = new Promise<void>(resolve => {
      // A GET stream has already ended.
      if (method === 'POST') stream.write(bytes, () => resolve())
    })
    if (!endless) stream.end()
    return { reply, written, reset: () => void stream.destroy() }
  }

  close(): void {
    this.#session.destroy()
  }
}
