import type { Socket } from 'node:net'

/** A reply as received. */
export interface WireReply {
  readonly status: number
  /** Headers by lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Statuses of the interim replies (100 and the like) that preceded it. */
  readonly interim: readonly number[]
}

/** Error message if the connection ended without a reply. */
export const CLOSED = 'the connection closed before a reply'

/** Time limit for a connection, and for each reply. */
export const WAIT_MS = 15_000

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly length: number
}

/**
 * Reads replies from a socket, one after the other. Supports what small JSON replies need: a `Content-Length`, chunks,
 * or a body that ends with the connection.
 */
export class ReplyReader {
  /** Received text that is not yet part of a reply. */
  #text = ''
  #ended = false
  #failure: Error | undefined
  /** Resumes the reader that waits for more. */
  #resume = (): void => {}

  constructor(socket: Socket) {
    socket.setEncoding('latin1')
    socket.on('data', chunk => {
      this.#text += chunk
      this.#resume()
    })
    socket.on('error', error => {
      this.#failure = error
      this.#resume()
    })
    socket.on('close', () => {
      this.#ended = true
      this.#resume()
    })
  }

  async next(method = 'POST'): Promise<WireReply> {
    const interim: number[] = []
    const deadline = performance.now() + WAIT_MS
    for (;;) {
      const reply = this.#take(interim, method)
      if (reply !== undefined) return reply
      if (this.#ended) throw new Error(CLOSED, { cause: this.#failure })
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`no reply within ${WAIT_MS} ms`)
      await this.#waitForMore(left)
    }
  }

  #take(interim: number[], method: string): WireReply | undefined {
    for (;;) {
      const head = headOf(this.#text)
      if (head === undefined) return undefined
      if (head.status >= 200) {
        const whole = wholeReply(this.#text, head, { ended: this.#ended, method })
        if (whole === undefined) return undefined
        this.#text = this.#text.slice(whole.length)
        return { status: head.status, headers: head.headers, body: whole.body, interim }
      }
      interim.push(head.status)
      this.#text = this.#text.slice(head.length)
    }
  }

  #waitForMore(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(resolve, ms)
      this.#resume = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

function headOf(text: string): Head | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`not an HTTP/1.1 reply: ${first.slice(0, 80)}`)
  const headers = new Map(
    lines.map(line => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  return { status, headers, length: end + 4 }
}

function wholeReply(
  text: string,
  { headers, length }: Head,
  { ended, method }: { readonly ended: boolean; readonly method: string },
): { body: string; length: number } | undefined {
  // A reply to HEAD declares the body that a GET would return.
  if (method === 'HEAD') return { body: '', length }
  const declared = headers.get('content-length')
  const rest = text.slice(length)
  if (declared !== undefined) {
    const bytes = Number(declared)
    return rest.length < bytes ? undefined : { body: rest.slice(0, bytes), length: length + bytes }
  }
  if (headers.get('transfer-encoding') === 'chunked') {
    if (!rest.endsWith('0\r\n\r\n')) return undefined
    const body = rest.split('\r\n').filter((_, index) => index % 2 === 1)
    return { body: body.join(''), length: text.length }
  }
  return ended ? { body: rest, length: text.length } : undefined
}
