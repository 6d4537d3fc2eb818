import type { Socket } from 'node:net'

/** A reply as it came from the wire. */
export interface WireReply {
  readonly status: number
  /** By name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** Statuses of the interim replies (100 and the like) before it. */
  readonly interim: readonly number[]
}

/** The message when there will be no reply any more. */
export const CLOSED = 'the connection closed before a reply'

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly length: number
}

/**
 * Reads replies from a socket, one after the other. Understands what small JSON replies need: a
 * `Content-Length`, chunks, or a body that ends with the connection.
 */
export function createReplyReader(
  socket: Socket,
  patienceMs: number,
): { next(method?: string): Promise<WireReply> } {
  let text = ''
  let ended = false
  let failure: Error | undefined
  let wake = (): void => {}
  socket.setEncoding('latin1')
  socket.on('data', chunk => {
    text += chunk
    wake()
  })
  socket.on('error', error => {
    failure = error
    wake()
  })
  socket.on('close', () => {
    ended = true
    wake()
  })

  function take(interim: number[], method: string): WireReply | undefined {
    for (;;) {
      const head = headOf(text)
      if (head === undefined) return undefined
      if (head.status >= 200) {
        const whole = wholeReply(text, head, { ended, method })
        if (whole === undefined) return undefined
        text = text.slice(whole.length)
        return { status: head.status, headers: head.headers, body: whole.body, interim }
      }
      interim.push(head.status)
      text = text.slice(head.length)
    }
  }

  async function next(method = 'POST'): Promise<WireReply> {
    const interim: number[] = []
    const deadline = performance.now() + patienceMs
    for (;;) {
      const reply = take(interim, method)
      if (reply !== undefined) return reply
      if (ended) throw new Error(CLOSED, { cause: failure })
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`no reply within ${patienceMs} ms`)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, left)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
  return { next }
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
  // A reply to HEAD declares the body it does not have.
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
