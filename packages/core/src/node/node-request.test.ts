import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, it, vi } from 'vitest'
import type { Refusal } from '../errors/refusal.ts'
import { captureRawBody, readRawBody } from './node-request.ts'

const limits = { maxBytes: 100, timeoutMs: 10_000 }
const servers: ReturnType<typeof createServer>[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections()
})

/** Returns the result of `read` for a real request sent by `send`. */
function received<T>(
  read: (request: IncomingMessage) => T,
  send: (client: ReturnType<typeof httpRequest>) => void,
): Promise<Awaited<T>> {
  return new Promise((resolve, reject) => {
    const server = createServer(request => {
      request.on('error', () => {})
      Promise.resolve(read(request)).then(resolve, reject)
    })
    servers.push(server)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      const client = httpRequest({ port, host: '127.0.0.1', method: 'POST' })
      client.on('error', () => {})
      send(client)
    })
  })
}

it('returns the bytes of the stream', async () => {
  const bytes = await received(
    request => readRawBody(request, limits),
    client => client.end(Buffer.of(1, 2, 0xff)),
  )
  expect(Uint8Array.from(bytes as Uint8Array)).toEqual(Uint8Array.of(1, 2, 0xff))
})

it('returns the bytes even if awaited after the end, any number of times', async () => {
  const answers = await received(
    async request => {
      const reading = readRawBody(request, limits)
      await once(request, 'close')
      return [await reading, ...(await Promise.all([reading, reading]))]
    },
    client => client.end('sent'),
  )
  expect(answers.map(String)).toEqual(['sent', 'sent', 'sent'])
})

it('never calls back synchronously', async () => {
  const order = await received(
    async request => {
      const reading = Promise.resolve(readRawBody(request, limits))
      await once(request, 'close')
      const calls: string[] = []
      void reading.then(body => calls.push(String(body)))
      calls.push('asked')
      await vi.waitFor(() => expect(calls).toHaveLength(2))
      return calls
    },
    client => client.end('sent'),
  )
  expect(order).toEqual(['asked', 'sent'])
})

it.each(['rawBody', 'body'])('returns the bytes kept in %s, without reading', async property => {
  const kept = Buffer.from('kept')
  const bytes = await received(
    request => readRawBody(Object.assign(request, { [property]: kept }), limits),
    client => client.end('sent'),
  )
  expect(bytes).toBe(kept)
})

it('does not treat a parsed body as bytes', async () => {
  const bytes = await received(
    request => readRawBody(Object.assign(request, { body: { parsed: true } }), limits),
    client => client.end('sent'),
  )
  expect(String(bytes)).toBe('sent')
})

it('refuses at once a stream that something else has read', async () => {
  const refusal = await received(
    async request => {
      for await (const _ of request);
      return readRawBody(request, limits)
    },
    client => client.end('sent'),
  )
  expect(refusal).toMatchObject({ code: 'body_unavailable' })
})

it('refuses at once a request whose connection is gone', async () => {
  let hangUp = (): void => {}
  const refusal = await received(
    async request => {
      hangUp()
      await new Promise(resolve => request.once('close', resolve))
      return readRawBody(request, limits)
    },
    client => {
      hangUp = () => client.destroy()
      client.setHeader('content-length', 10)
      client.flushHeaders()
    },
  )
  // Once the time is up, it would be `body_timeout`.
  expect((refusal as Refusal).code).toBe('body_aborted')
})

const delayed = () => new Promise(resolve => setImmediate(resolve))

it.each([
  ['was paused', (request: IncomingMessage) => void request.pause()],
  [
    'is watched by somebody who reads nothing',
    (request: IncomingMessage) => request.on('readable', () => {}),
  ],
  [
    'is watched by somebody who reads as well',
    (request: IncomingMessage) => request.on('readable', () => request.read()),
  ],
])('returns the bytes of a stream that %s before', async (_, before) => {
  const sent = Buffer.alloc(100_000, 'x')
  const bytes = await received(
    async request => {
      before(request)
      return readRawBody(request, { maxBytes: sent.length, timeoutMs: 10_000 })
    },
    client => {
      client.write(sent.subarray(0, 10))
      setImmediate(() => client.end(sent.subarray(10)))
    },
  )
  expect(Buffer.compare(bytes as Uint8Array, sent)).toBe(0)
})

it('returns the bytes of a stream that was paused for a while', async () => {
  const bytes = await received(
    async request => {
      request.pause()
      await delayed()
      return readRawBody(request, limits)
    },
    client => client.end('sent'),
  )
  expect(String(bytes)).toBe('sent')
})

it('stops at the limit even if somebody watches the stream', async () => {
  const refusal = await received(
    request =>
      readRawBody(
        request.on('readable', () => {}),
        limits,
      ),
    client => client.end(Buffer.alloc(1_000_000)),
  )
  expect(refusal).toMatchObject({ code: 'body_too_large' })
})

it('leaves the rest of a body that is too large with its sender', async () => {
  const isFlowing = await received(
    async request => {
      await readRawBody(request, limits)
      return request.readableFlowing
    },
    client => client.end(Buffer.alloc(1_000_000)),
  )
  expect(isFlowing).toBe(false)
})

it('refuses at once a stream of text, and says so', async () => {
  const refusal = await received(
    request => readRawBody(request.setEncoding('utf8'), limits),
    client => client.end('sent'),
  )
  expect(refusal).toMatchObject({
    code: 'body_unavailable',
    detail: expect.stringContaining('setEncoding()'),
  })
})

it('gives up on a request that declares 300 bytes and sends none', async () => {
  const refusal = await received(
    request => readRawBody(request, { maxBytes: 1000, timeoutMs: 50 }),
    client => {
      client.setHeader('content-length', 300)
      client.flushHeaders()
    },
  )
  expect(refusal).toMatchObject({ code: 'body_timeout', detail: '0 bytes in 50 ms' })
})

it('refuses at once a body that declares too much', async () => {
  const refusal = await received(
    request => readRawBody(request, limits),
    client => {
      client.setHeader('content-length', 101)
      client.write('some')
    },
  )
  expect(refusal).toMatchObject({ code: 'body_too_large' })
})

it('leaves no listener on a request whose sender is gone', async () => {
  const countsOf = (request: IncomingMessage) =>
    request.eventNames().map(event => [event, request.listenerCount(event)])
  let hangUp = (): void => {}
  const [refusal, before, after] = await received(
    async request => {
      const counts = countsOf(request)
      const reading = readRawBody(request, limits)
      hangUp()
      return [await reading, counts, countsOf(request)] as const
    },
    client => {
      hangUp = () => client.destroy()
      client.setHeader('content-length', 10)
      client.flushHeaders()
    },
  )
  expect(refusal).toMatchObject({ code: 'body_aborted' })
  expect(after).toEqual(before)
})

it('refuses a body that is not as long as it declares', async () => {
  const stream = Object.assign(Readable.from([Buffer.from('half')]), { headers: { 'content-length': '8' } })
  expect(await readRawBody(stream as unknown as IncomingMessage, limits)).toMatchObject({
    code: 'body_aborted',
    cause: { type: 'request.size.invalid', received: 4, expected: 8 },
  })
})

it.each(['', '-5', '+5', '5e0', '0x5'])('does not treat %j as a declared length', async length => {
  const stream = Object.assign(Readable.from([Buffer.from('whole')]), {
    headers: { 'content-length': length },
  })
  expect(String(await readRawBody(stream as unknown as IncomingMessage, limits))).toBe('whole')
})

it('refuses text that a hook substituted for the bytes', async () => {
  const text = Readable.from(['one', 'two']) as unknown as IncomingMessage
  expect(await readRawBody(text, limits)).toMatchObject({
    code: 'body_unavailable',
    detail: expect.stringContaining('a stream of strings'),
  })
  const bytes = Readable.from([Buffer.from('one'), Buffer.from('two')]) as unknown as IncomingMessage
  expect(String(await readRawBody(bytes, limits))).toBe('onetwo')
})

it('captureRawBody as a middleware throws with the fix, instead of hanging', () => {
  expect(() => captureRawBody({} as IncomingMessage, {}, (() => {}) as never)).toThrow(
    'express.json({ verify: captureRawBody })',
  )
})

it('releases a request once its bytes are read', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const requests: IncomingMessage[] = []
  const readers: WeakRef<object>[] = []
  await received(
    request =>
      new Promise<void>(resolve => {
        requests.push(request)
        const goOn = () => resolve()
        readers.push(new WeakRef(goOn))
        void Promise.resolve(readRawBody(request, limits)).then(goOn)
      }),
    client => client.end('sent'),
  )
  await vi.waitFor(() => {
    collect()
    expect(readers[0]?.deref()).toBeUndefined()
  })
  expect(requests).toHaveLength(1)
})

it('does not keep a process alive for the time limit of a complete body', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const timeoutMs = 54_321
  await received(
    request => readRawBody(request, { ...limits, timeoutMs }),
    client => client.end('sent'),
  )
  const ofBodies = timers.mock.calls.findIndex(([, ms]) => ms === timeoutMs)
  expect(timers.mock.results[ofBodies]?.value.hasRef()).toBe(false)
  timers.mockRestore()
})

it('returns the bytes to both readers if a request is read twice', async () => {
  const results = await received(
    request => Promise.all([readRawBody(request, limits), readRawBody(request, limits)]),
    client => client.end('sent'),
  )
  expect(results.map(String)).toEqual(['sent', 'sent'])
})

it('returns the bytes once to a second read after a timeout', async () => {
  let sendBody = (): void => {}
  const results = await received(
    async request => {
      const first = await readRawBody(request, { ...limits, timeoutMs: 50 })
      sendBody()
      // The first read discards bytes that have arrived, but none had.
      return [first, await readRawBody(request, limits)]
    },
    client => {
      client.flushHeaders()
      sendBody = () => void client.end('late')
    },
  )
  expect(results[0]).toMatchObject({ code: 'body_timeout' })
  expect(String(results[1])).toBe('late')
})

const wrappers: Record<string, (request: IncomingMessage) => IncomingMessage> = {
  'an object that inherits from the request': request => Object.create(request) as IncomingMessage,
  'a proxy': request => new Proxy(request, {}),
  'a proxy that binds what it returns': request =>
    new Proxy(request, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
  'a proxy that stores properties separately': request => {
    const own = new Map<PropertyKey, unknown>()
    return new Proxy(request, {
      get: (target, name) => (own.has(name) ? own.get(name) : Reflect.get(target, name)),
      set: (_, name, value) => own.set(name, value) !== undefined,
    })
  },
}

it.each(Object.entries(wrappers))('returns the bytes even through %s', async (_, wrap) => {
  const bytes = await received(
    request => readRawBody(wrap(request), limits),
    client => {
      client.write('in two ')
      setTimeout(() => client.end('pieces'), 20)
    },
  )
  expect(Buffer.from(bytes as Uint8Array).toString()).toBe('in two pieces')
})
