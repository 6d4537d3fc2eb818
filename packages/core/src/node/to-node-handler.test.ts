import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { memoryStore } from '../inbox/memory/memory-store.ts'
import type { ReceiverOptions } from '../receiver/options.ts'
import type { Receiver } from '../receiver/receiver.ts'
import { nodeHealth } from './node-health.ts'
import { captureRawBody } from './node-request.ts'
import { toNodeHandler } from './to-node-handler.ts'
import { writeReply } from './write-reply.ts'

const leftovers: (() => unknown)[] = []
const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeEach(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterEach(async () => {
  for (const dispose of leftovers.splice(0)) await dispose()
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
  expect(faults.splice(0)).toEqual([])
})

type Listener = (request: IncomingMessage, response: ServerResponse) => void

async function listen(listener: Listener): Promise<{ server: Server; port: number; url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { server, port, url: `http://127.0.0.1:${port}/` }
}

/** Starts a receiver on a real socket, with a store that counts its calls. */
async function serve(
  options: Partial<ReceiverOptions> = {},
  before: (request: IncomingMessage) => void = () => {},
) {
  const inner = memoryStore()
  const store = { ...inner, claim: vi.fn(inner.claim) }
  const watched = watch({ store, ...options } as never)
  const handler = toNodeHandler(watched.receiver as never)
  const { port, url, server } = await listen((request, response) => {
    before(request)
    void handler(request, response)
  })
  const headers = (body: string | Uint8Array = eventBody()) =>
    signedRequest(body).headers as Record<string, string>
  return { ...watched, store, port, url, server, headers }
}

/** Writes text to a raw socket and returns what came back until it closed. */
async function raw(port: number, write: (socket: ReturnType<typeof connect>) => void): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  leftovers.push(() => socket.destroy())
  let received = ''
  socket
    .setEncoding('latin1')
    .on('data', chunk => (received += chunk))
    .on('error', () => {})
  const closed = new Promise(resolve => socket.once('close', resolve))
  await once(socket, 'connect')
  write(socket)
  await closed
  return received
}

const head = (headers: Record<string, string>, ...more: string[]) =>
  [
    'POST / HTTP/1.1',
    'Host: localhost',
    ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
    ...more,
    '',
    '',
  ].join('\r\n')

describe('a Node handler', () => {
  it('replies over a real socket and keeps the connection', async () => {
    const { url, headers } = await serve()
    const reply = await fetch(url, { method: 'POST', body: eventBody(), headers: headers() })
    expect(reply.status).toBe(202)
    expect(reply.headers.get('connection')).toBe('keep-alive')
    expect(await reply.json()).toMatchObject({ code: 'accepted' })
    expect((await fetch(url, { method: 'POST', body: eventBody(), headers: headers() })).status).toBe(200)
  })

  it('is an async function, which restify takes without `next`, and so is that for probes', () => {
    const { receiver } = watch()
    for (const handler of [toNodeHandler(receiver as never), nodeHealth(receiver as never)]) {
      expect(Object.prototype.toString.call(handler)).toBe('[object AsyncFunction]')
    }
  })

  it('rejects a call without a response, in words', async () => {
    const { receiver } = watch()
    const wrong = toNodeHandler(receiver as never) as (context: object) => Promise<void>
    await expect(wrong({ path: '/webhooks' })).rejects.toThrow(/Node's request and response/)
  })

  it('goes through a wrapper that copies the request', async () => {
    const { receiver } = watch()
    const handle: typeof receiver.handle = request => receiver.handle({ ...request })
    const { url } = await listen(toNodeHandler({ ...receiver, handle } as never))
    const { headers, body } = signedRequest()
    expect((await fetch(url, { method: 'POST', headers, body } as RequestInit)).status).toBe(202)
    await receiver.close()
  })

  it('keeps the request’s AsyncLocalStorage after the body was read', async () => {
    const tenants = new AsyncLocalStorage<string>()
    const namespace = () => String(tenants.getStore())
    const { receiver, seen } = watch({ namespace } as never)
    const handler = toNodeHandler(receiver as never)
    const { port } = await listen((request, response) =>
      tenants.run('acme', () => handler(request, response)),
    )
    const { headers } = signedRequest(eventBody())
    const received = await raw(port, socket => {
      const fields = head(
        headers as Record<string, string>,
        'Transfer-Encoding: chunked',
        'Connection: close',
      )
      socket.write(fields)
      // The rest arrives in a separate packet, which Node reads outside the request.
      setTimeout(() => {
        socket.write(`${eventBody().length.toString(16)}\r\n${eventBody()}\r\n0\r\n\r\n`)
      }, 50)
    })
    expect(received).toMatch(/^HTTP\/1\.1 202 /)
    expect(seen.find(({ kind }) => kind === 'accepted')).toMatchObject({ namespace: 'acme' })
  })

  it('verifies the exact bytes', async () => {
    const { url, headers } = await serve()
    const [before, after] = eventBody({ note: '@' }).split('@')
    const body = Buffer.concat([
      Buffer.from(before as string),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(after as string),
    ])
    expect((await fetch(url, { method: 'POST', body, headers: headers(body) })).status).toBe(202)
    const replaced = Buffer.from(body.toString('utf8'))
    expect((await fetch(url, { method: 'POST', body: replaced, headers: headers(body) })).status).toBe(401)
  })

  it('joins chunks, tiny ones too', async () => {
    const { port, headers } = await serve()
    const body = eventBody()
    const received = await raw(port, socket => {
      socket.write(head(headers(), 'Transfer-Encoding: chunked', 'Connection: close'))
      for (const character of body) socket.write(`1\r\n${character}\r\n`)
      socket.write('0\r\n\r\n')
    })
    expect(received).toMatch(/^HTTP\/1\.1 202 /)
  })

  it('refuses a header that was sent twice', async () => {
    const { port, headers, store } = await serve()
    const value = headers()['x-service-signature']
    const received = await raw(port, socket =>
      socket.write(
        `${head(headers(), `X-Service-Signature: ${value}`, `Content-Length: ${eventBody().length}`, 'Connection: close')}${eventBody()}`,
      ),
    )
    expect(received).toMatch(/^HTTP\/1\.1 401 /)
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('refuses a body that declares too large a length before reading it, and closes the connection', async () => {
    const { port, headers, store } = await serve({ body: { limit: 1000 } })
    // The body is never sent: reading it would end in 408.
    const received = await raw(port, socket => socket.write(head(headers(), 'Content-Length: 5000')))
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(received.toLowerCase()).toContain('connection: close')
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('refuses a body that grows too large without being declared', async () => {
    const { port, headers, store } = await serve({ body: { limit: 1000 } })
    const received = await raw(port, socket => {
      socket.write(head(headers(), 'Transfer-Encoding: chunked'))
      for (let i = 0; i < 10; i++) socket.write(`c8\r\n${'x'.repeat(200)}\r\n`)
    })
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('does not let anyone upload forever after its reply', async () => {
    const { port, headers } = await serve({ body: { limit: 1000 } })
    let written = 0
    const received = await raw(port, socket => {
      socket.write(head(headers(), 'Content-Length: 900000000'))
      const chunk = Buffer.alloc(65_536)
      const pump = (): void => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length
      }
      socket.on('drain', pump)
      pump()
    })
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(written).toBeLessThan(64_000_000)
  })

  it.each([
    ['declared', (size: number) => `Content-Length: ${size}`, '', (rest: string) => rest],
    [
      'not declared',
      () => 'Transfer-Encoding: chunked',
      `7d0\r\n${'x'.repeat(2000)}\r\n`,
      (rest: string) => `${rest.length.toString(16)}\r\n${rest}\r\n0\r\n\r\n`,
    ],
  ])(
    'reads on for a while after its reply, so that the sender can read it: a size %s',
    async (_, declare, begin, framed) => {
      const { port, headers, server } = await serve({ body: { limit: 1000 } })
      const read = new Promise<number>(resolve =>
        server.on('connection', socket => socket.on('close', () => resolve(socket.bytesRead))),
      )
      const size = 300_000
      const received = await raw(port, socket => {
        socket.write(head(headers(), declare(size)) + begin)
        // The rest of the body follows the reply, as with a sender that has not looked yet.
        socket.once('data', () => socket.write(framed('x'.repeat(size))))
      })
      expect(received).toMatch(/^HTTP\/1\.1 413 /)
      expect(await read).toBeGreaterThan(size)
    },
  )

  it('gives up on a body that stalls', async () => {
    const { port, headers, store } = await serve({ body: { timeout: '100ms' } })
    const received = await raw(port, socket => socket.write(`${head(headers(), 'Content-Length: 50')}half`))
    expect(received).toMatch(/^HTTP\/1\.1 408 /)
    expect(received.toLowerCase()).toContain('connection: close')
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('refuses an upload that is cut off, without calling the store', async () => {
    const { port, headers, store, seen } = await serve()
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(`${head(headers(), 'Content-Length: 500')}${eventBody()}`)
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    socket.destroy()
    await vi.waitFor(() =>
      expect(seen.at(-1)).toMatchObject({ kind: 'rejected', code: 'body_aborted', status: 400 }),
    )
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('reads an empty body', async () => {
    const { url, headers } = await serve()
    const reply = await fetch(url, { method: 'POST', headers: headers('') })
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ code: 'json_invalid' })
  })

  it('returns 405 to other methods', async () => {
    const { url } = await serve()
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) {
      const reply = await fetch(url, { method })
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  it('writes no body for HEAD, for which Node may refuse one', async () => {
    const { receiver } = watch()
    const handler = toNodeHandler(receiver as never)
    const server = createServer({ rejectNonStandardBodyWrites: true }, handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    leftovers.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const reply = await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' })
    expect([reply.status, await reply.text()]).toEqual([405, ''])
  })

  it.each([
    ['too large', { body: { limit: 100 } }, 413],
    ['too slow', { body: { timeout: '20ms' } }, 408],
  ] as const)('ends the upload of a body that is %s over HTTP/2', async (_, options, status) => {
    const warned = vi.fn()
    process.on('warning', warned)
    const { receiver } = watch(options as never)
    const server = createHttp2Server(toNodeHandler(receiver as never) as never).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    leftovers.push(
      () => session.destroy(),
      () => server.close(),
    )
    const stream = session.request({ ':method': 'POST', ...(signedRequest().headers as object) })
    const closed = new Promise<void>(resolve => stream.once('close', resolve))
    stream.on('error', () => {}).write(Buffer.alloc(1000))
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(status)
    stream.resume()
    await closed
    expect(session.destroyed).toBe(false)
    process.off('warning', warned)
    expect(warned).not.toHaveBeenCalled()
  })

  it('does not keep an HTTP/2 stream whose body was refused while its connection lasts', async () => {
    const { receiver } = watch({ body: { limit: 100 } })
    const server = createHttp2Server(toNodeHandler(receiver as never) as never).listen(0, '127.0.0.1')
    await once(server, 'listening')
    let open = 0
    server.on('stream', stream => {
      open++
      stream.on('close', () => open--)
    })
    const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    leftovers.push(
      () => session.destroy(),
      () => server.close(),
    )
    for (let i = 0; i < 20; i++) {
      const stream = session.request({ ':method': 'POST', ...(signedRequest().headers as object) })
      stream.on('error', () => {}).end(Buffer.alloc(60_000))
      const [headers] = await once(stream, 'response')
      expect(headers[':status']).toBe(413)
      stream.resume()
      await once(stream, 'end')
      stream.destroy()
    }
    await vi.waitFor(() => expect(open).toBe(0))
    expect(session.destroyed).toBe(false)
  })

  it('accepts a header called __proto__', async () => {
    const { port, headers } = await serve()
    const received = await raw(port, socket =>
      socket.write(
        `${head(headers(), '__proto__: x', `Content-Length: ${eventBody().length}`, 'Connection: close')}${eventBody()}`,
      ),
    )
    expect(received).toMatch(/^HTTP\/1\.1 202 /)
  })

  it('replies to a sender that waits for 100 Continue', async () => {
    const { port, headers } = await serve()
    const status = await new Promise(resolve => {
      const client = httpRequest({
        port,
        host: '127.0.0.1',
        method: 'POST',
        headers: { ...headers(), expect: '100-continue' },
      })
      client.on('continue', () => client.end(eventBody()))
      client.on('response', response => {
        response.resume()
        resolve(response.statusCode)
      })
      client.flushHeaders()
    })
    expect(status).toBe(202)
  })
})

describe('bytes that something else read', () => {
  it('are used if they were kept exactly', async () => {
    for (const name of ['rawBody', 'body']) {
      const { url, headers } = await serve({}, request => {
        Object.assign(request, { [name]: Buffer.from(eventBody()) })
      })
      expect((await fetch(url, { method: 'POST', body: 'ignored', headers: headers() })).status).toBe(202)
    }
  })

  it('are used from rawBody rather than body', async () => {
    const { url, headers } = await serve({}, request => {
      captureRawBody(request, undefined, Buffer.from(eventBody()))
      Object.assign(request, { body: Buffer.from('other') })
    })
    expect((await fetch(url, { method: 'POST', body: 'ignored', headers: headers() })).status).toBe(202)
  })

  it('are not used as text or as an object: the stream is read instead', async () => {
    const { url, headers } = await serve({}, request => {
      Object.assign(request, { body: {}, rawBody: 'text' })
    })
    expect((await fetch(url, { method: 'POST', body: eventBody(), headers: headers() })).status).toBe(202)
  })

  it('and kept nowhere are a 500 at once, and the log names the line to move', async () => {
    const { logger, seen, receiver, store } = watchedWithStore()
    const handler = toNodeHandler(receiver as never)
    const { url } = await listen(async (request, response) => {
      for await (const _ of request) {
        // Consumed, as by a parser.
      }
      void handler(request, response)
    })
    const { headers } = signedRequest()
    const reply = await fetch(url, {
      method: 'POST',
      body: eventBody(),
      headers: headers as Record<string, string>,
    })
    expect(reply.status).toBe(500)
    expect(await reply.json()).toMatchObject({ code: 'body_unavailable' })
    expect(seen.at(-1)).toMatchObject({ kind: 'rejected', code: 'body_unavailable' })
    expect(logger.lines[0]).toMatchObject({ level: 'error' })
    expect(logger.lines[0]?.message).toContain('app.use(express.json())')
    expect(logger.lines[0]?.message).toContain('Move the line that mounts the webhook route above it')
    expect(store.claim).not.toHaveBeenCalled()
  })

  it('of an empty body that was read to its end are unavailable too', async () => {
    const { receiver } = watchedWithStore()
    const handler = toNodeHandler(receiver as never)
    const { url } = await listen((request, response) => {
      request.resume().on('end', () => handler(request, response))
    })
    expect((await fetch(url, { method: 'POST' })).status).toBe(500)
  })
})

describe('writing a reply', () => {
  it('ends a response whose head was written but that nothing would end', async () => {
    const { receiver } = watch()
    const handler = toNodeHandler(receiver as never)
    const { port } = await listen((request, response) => {
      response.writeHead(200, { 'content-length': '5' }).flushHeaders()
      void handler(request, response)
    })
    const received = await raw(port, socket =>
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n'),
    )
    expect(received).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('leaves a finished response alone', async () => {
    const { url } = await listen((request, response) => {
      response.end('mine')
      void writeReply(request, response, { status: 500, headers: {}, body: 'theirs' })
    })
    expect(await (await fetch(url)).text()).toBe('mine')
  })

  it('leaves a response alone whose connection is gone', async () => {
    const { url } = await listen((request, response) => {
      response.destroy()
      void writeReply(request, response, { status: 200, headers: {}, body: '' })
    })
    await expect(fetch(url)).rejects.toThrow()
  })
})

function watchedWithStore() {
  const inner = memoryStore()
  const store = { ...inner, claim: vi.fn(inner.claim) }
  return { ...watch({ store }), store }
}

describe('the promise of a handler', () => {
  async function awaited(handle: (handler: Listener) => Listener = handler => handler) {
    const { receiver } = watch({ acknowledge: 'after-processing' })
    const handling: (() => void)[] = []
    receiver.on('conversation.resolved', () => new Promise<void>(resolve => handling.push(resolve)))
    const handler = handle(toNodeHandler(receiver as unknown as Receiver<never, IncomingMessage>))
    const settled: boolean[] = []
    const { url } = await listen(async (request, response) => {
      await handler(request, response)
      settled.push(response.writableFinished || response.destroyed)
    })
    return { url, settled, handling }
  }

  it('settles when the reply is written', async () => {
    const { url, settled, handling } = await awaited()
    const { headers, body } = signedRequest() as {
      headers: Record<string, string>
      body: Uint8Array<ArrayBuffer>
    }
    const reply = fetch(url, { method: 'POST', headers, body })
    await vi.waitFor(() => expect(handling).toHaveLength(1))
    expect(settled).toEqual([])
    handling[0]?.()
    expect((await reply).status).toBe(200)
    await vi.waitFor(() => expect(settled).toEqual([true]))
  })

  it('settles if the sender is gone before the reply', async () => {
    const { url, settled, handling } = await awaited()
    const { headers, body } = signedRequest() as {
      headers: Record<string, string>
      body: Uint8Array<ArrayBuffer>
    }
    const sender = new AbortController()
    const request = {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
      signal: sender.signal,
    }
    const reply = fetch(url, request).catch(() => {})
    await vi.waitFor(() => expect(handling).toHaveLength(1))
    sender.abort()
    await reply
    handling[0]?.()
    await vi.waitFor(() => expect(settled).toEqual([true]))
  })

  it('settles, and does not reject, if something else broke the response', async () => {
    const { url, settled } = await awaited(handler => (request, response) => {
      response.writeHead = () => {
        throw new Error('spoiled')
      }
      return handler(request, response)
    })
    await fetch(url, { method: 'POST' }).catch(() => {})
    await vi.waitFor(() => expect(settled).toEqual([true]))
  })
})

it('a host’s body getter that throws does not block a genuine event', async () => {
  const { receiver } = watch()
  const { url } = await listen((request, response) => {
    Object.defineProperty(request, 'body', {
      get() {
        throw new Error('Invalid JSON')
      },
    })
    void toNodeHandler(receiver as unknown as Receiver<never, IncomingMessage>)(request, response)
  })
  const { headers, body } = signedRequest() as {
    headers: Record<string, string>
    body: Uint8Array<ArrayBuffer>
  }
  const reply = await fetch(url, { method: 'POST', headers, body })
  expect(reply.status).toBe(202)
})
