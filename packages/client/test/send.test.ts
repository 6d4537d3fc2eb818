import { once } from 'node:events'
import { inspect } from 'node:util'
import { Worker } from 'node:worker_threads'
import { Client, ClientError, type ClientOptions, type Message, type SendOptions } from '@ackhook/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { freePort } from '../../../test/support/free-port.ts'
import { until } from '../../../test/support/until.ts'
import {
  type Answer,
  type FaultServer,
  hang,
  hangWithinBody,
  oneGibibyte,
  reply,
  reset,
  resetWithinBody,
  startFaultServer,
  startFaultServerOn,
} from './fault-server.ts'

const apiKey = 'key-that-must-not-leak'
const message: Message = {
  channel: 'whatsapp',
  to: '+4915112345678',
  template: 'order_shipped',
  variables: { order: 'value-that-must-not-leak' },
}
let server: FaultServer | undefined
afterEach(() => server?.close())

async function send(answers: Answer | Answer[], options?: SendOptions, more?: Partial<ClientOptions>) {
  server = await startFaultServer(...[answers].flat())
  const client = new Client({ apiKey, baseUrl: server.url, timeout: '10s', ...more })
  return client.messages.send(message, options)
}

/** Returns the error of a failing call, and checks that printing it reveals no secret. */
async function failure(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => expect.unreachable('it resolved'),
    thrown => thrown,
  )
  expect(error).toBeInstanceOf(ClientError)
  const shown = `${inspect(error, { depth: 9 })}${JSON.stringify(error)}${String(error)}${(error as Error).stack}`
  for (const secret of [apiKey, message.to, message.to.slice(1), 'value-that-must-not-leak']) {
    expect(shown).not.toContain(secret)
  }
  return error as ClientError
}

const firstRequest = () => server?.requests[0] ?? expect.unreachable('no request arrived')
const requests = () => server?.requests.length

describe('the request', () => {
  it('is the documented one', async () => {
    await send(reply(202))
    expect(firstRequest()).toMatchObject({
      method: 'POST',
      path: '/v1/messages',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(message),
    })
  })

  it('leaves absent variables out of its body', async () => {
    server = await startFaultServer(reply(202))
    const { variables: _variables, ...bare } = message
    const { messages } = new Client({ apiKey, baseUrl: `${server.url}/api/` })
    await messages.send({ ...bare, variables: undefined })
    expect(firstRequest().body).toBe(JSON.stringify(bare))
    expect(firstRequest().path).toBe('/api/v1/messages')
  })

  it("has the call's headers", async () => {
    await send(reply(202), { headers: { 'Idempotency-Key': 'order-1' } })
    expect(firstRequest().headers).toMatchObject({ 'idempotency-key': 'order-1' })
  })

  it("goes through the options' fetch", async () => {
    const addresses: string[] = []
    const fetch: ClientOptions['fetch'] = (url, init) => {
      addresses.push(url)
      return globalThis.fetch(url, init)
    }
    await send(reply(202), {}, { fetch })
    expect(addresses).toEqual([`${server?.url}/v1/messages`])
  })
})

describe('a 2xx', () => {
  it.each([
    { status: 202, text: '{"id":"msg_1"}', body: { id: 'msg_1' } },
    { status: 200, text: 'queued', body: undefined },
    { status: 201, text: '', body: undefined },
    { status: 204, text: '', body: undefined },
  ])('is a success with $status and the body "$text"', async ({ status, text, body }) => {
    const result = await send(reply(status, text, { 'x-request-id': 'r1' }))
    expect(result).toMatchObject({ status, text, body, truncated: false })
    expect(result.headers.get('x-request-id')).toBe('r1')
  })

  it('is a success even if the connection is reset within its body', async () => {
    expect(await send(resetWithinBody(202))).toMatchObject({ status: 202, body: undefined, truncated: true })
  })

  it('is a success even if its body does not end in time', async () => {
    const result = await send(hangWithinBody(202), { timeout: '300ms' })
    expect(result).toMatchObject({ status: 202, body: undefined, truncated: true })
  })

  it('is read up to 1 MiB, and no further', async () => {
    const written = { bytes: 0 }
    const result = await send(oneGibibyte(200, written))
    expect(result).toMatchObject({ status: 200, body: undefined, truncated: true })
    expect(result.text).toHaveLength(1_048_576)
    expect(written.bytes).toBeLessThan(64 * 1_048_576)
  })

  it('has a typed body with a schema', async () => {
    server = await startFaultServer(reply(202, '{"id":"msg_1","more":1}'))
    const { messages } = new Client({ apiKey, baseUrl: server.url })
    const { body } = await messages.send(message, { schema: z.object({ id: z.string() }) })
    expect(body satisfies { id: string }).toEqual({ id: 'msg_1' })
  })

  it('is reported with its status, and not repeated, if its body does not match the schema', async () => {
    server = await startFaultServer(reply(202, '{"id":7}'))
    const { messages } = new Client({ apiKey, baseUrl: server.url })
    const schema = z.object({ id: z.string() })
    const error = await failure(messages.send(message, { schema, retry: { attempts: 3, on: 'any' } }))
    expect(error).toMatchObject({ code: 'api', status: 202, body: { id: 7 } })
    expect(error.message).toContain('the message was accepted')
    expect(error.issues).toMatchObject([{ path: ['id'] }])
    expect(requests()).toBe(1)
  })

  it.each([
    [
      'throws',
      () => {
        throw new ClientError('connection', 'of another call', { sent: 'no' })
      },
    ],
    ['rejects', () => Promise.reject(new Error('gone'))],
    ['returns nothing', () => undefined as never],
    ['returns a function', () => (() => {}) as never],
    ['returns neither value nor issues', () => ({}) as never],
  ])('is reported as accepted, and not repeated, if the schema %s', async (_, validate) => {
    server = await startFaultServer(reply(202, '{}'))
    const { messages } = new Client({ apiKey, baseUrl: server.url })
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const
    const error = await failure(messages.send(message, { schema, retry: 'unsent' }))
    expect(error).toMatchObject({ code: 'api', status: 202, cause: expect.any(Error) })
    expect(error.message).toContain('the message was accepted, but the schema failed')
    expect(requests()).toBe(1)
  })
})

describe('any other response', () => {
  it('is an error with its status, headers and body', async () => {
    const error = await failure(send(reply(422, '{"field":"template"}', { 'x-request-id': 'r1' })))
    expect(error).toMatchObject({
      code: 'api',
      status: 422,
      body: { field: 'template' },
      text: '{"field":"template"}',
    })
    expect(error.headers?.get('x-request-id')).toBe('r1')
    expect(error.sent).toBeUndefined()
  })

  it('reveals what the platform repeats only in fields read by name', async () => {
    const echo: Answer = (response, request) => response.writeHead(400).end(request.body)
    const error = await failure(send(echo))
    expect(error.body).toEqual(message)
  })

  it('may be HTML', async () => {
    const error = await failure(send(reply(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' })))
    expect(error).toMatchObject({ status: 502, body: undefined, text: '<html>Bad gateway</html>' })
  })

  it('is read up to 64 KiB, and no further', async () => {
    const written = { bytes: 0 }
    const error = await failure(send(oneGibibyte(500, written)))
    expect(error.text).toHaveLength(65_536)
    expect(written.bytes).toBeLessThan(64 * 1_048_576)
  })

  it('is an error with its status even if the connection is reset within its body', async () => {
    expect(await failure(send(resetWithinBody(500)))).toMatchObject({
      code: 'api',
      status: 500,
      text: '{"id":',
    })
  })

  it.each([301, 302, 303, 307, 308])('is not followed if it is a redirect with %i', async status => {
    const elsewhere = await startFaultServer(reply(202))
    const error = await failure(send(reply(status, '', { location: `${elsewhere.url}/v1/messages` })))
    expect(error).toMatchObject({ code: 'api', status })
    expect(error.message).toContain('redirects are not followed')
    expect(elsewhere.requests).toEqual([])
    await elsewhere.close()
  })
})

describe('no response', () => {
  it('is an error that leaves open whether the message was sent', async () => {
    const error = await failure(send(reset))
    expect(error).toMatchObject({ code: 'connection', sent: 'unknown' })
    expect(error.message).toMatch(/failed without a response: (ECONNRESET|UND_ERR_SOCKET)$/)
  })

  it('is an error that says that nothing was sent if the connection was refused', async () => {
    const baseUrl = `http://localhost:${await freePort()}`
    const error = await failure(new Client({ apiKey, baseUrl }).messages.send(message))
    expect(error).toMatchObject({ code: 'connection', sent: 'no' })
    expect(error.message).toBe(`POST ${baseUrl}/v1/messages failed without a response: ECONNREFUSED`)
  })

  it('is an error that says that nothing was sent if the host does not exist', async () => {
    const { messages } = new Client({ apiKey, baseUrl: 'https://api.invalid' })
    const error = await failure(messages.send(message))
    expect(error).toMatchObject({ code: 'connection', sent: 'no' })
    // The second code appears if no name server can be reached.
    expect(error.message).toMatch(/failed without a response: (ENOTFOUND|EAI_AGAIN)$/)
  })

  it("shows no more than the code of another fetch's error", async () => {
    const fetch: ClientOptions['fetch'] = (_url, { body }) =>
      Promise.reject(Object.assign(new Error('no route'), { code: body }))
    const { messages } = new Client({ apiKey, baseUrl: 'https://api.example.com', fetch })
    const error = await messages.send(message).catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(/failed without a response$/)
  })

  it("is an error after the call's timeout", async () => {
    const error = await failure(send(hang, { timeout: '200ms' }))
    expect(error).toMatchObject({ code: 'timeout', sent: 'unknown' })
    expect(error.message).toContain('200 ms')
  })

  it('is read if it arrived while this process was blocked for longer than the timeout', async () => {
    const code = `
      const { parentPort } = require('node:worker_threads')
      const server = require('node:http').createServer((request, response) => {
        request.resume().on('end', () => {
          response.writeHead(202, { 'content-type': 'application/json' }).end('{"id":"msg_1"}')
          Atomics.store(shared, 0, 1)
          setTimeout(() => { Atomics.store(shared, 0, 2); Atomics.notify(shared, 0) }, 50)
        })
      })
      const shared = new Int32Array(require('node:worker_threads').workerData)
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`
    const workerData = new SharedArrayBuffer(4)
    const shared = new Int32Array(workerData)
    const other = new Worker(code, { eval: true, workerData })
    const [port] = await once(other, 'message')
    const client = new Client({ apiKey, baseUrl: `http://127.0.0.1:${port}`, timeout: '2s' })
    const sent = client.messages.send(message)
    const sentAt = performance.now()
    // The request has left when the other thread has it. After an immediate, timers come before the network.
    while (Atomics.load(shared, 0) === 0) await new Promise(setImmediate)
    Atomics.wait(shared, 0, 1)
    while (performance.now() - sentAt < 2100) Atomics.wait(shared, 0, 2, 100)
    await expect(sent).resolves.toMatchObject({ status: 202, body: { id: 'msg_1' } })
    await other.terminate()
  })

  it("is an error after the client's timeout", async () => {
    expect(await failure(send(hang, {}, { timeout: '200ms' }))).toMatchObject({ code: 'timeout' })
  })
})

describe('signal', () => {
  it('ends the call with its own reason', async () => {
    const controller = new AbortController()
    const call = send(hang, { signal: controller.signal })
    await until('the request arrived', () => requests() === 1)
    const reason = new Error('the customer left')
    controller.abort(reason)
    await expect(call).rejects.toBe(reason)
  })

  it('sends nothing if it is already aborted', async () => {
    await expect(send(reply(202), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/)
    expect(requests()).toBe(0)
  })

  it('ends the wait before a retry', async () => {
    const controller = new AbortController()
    const retry = { attempts: 2, on: 'any' } as const
    const call = send(reply(503, '', { 'retry-after': '60' }), { retry, signal: controller.signal })
    await until('the server has responded', () => requests() === 1)
    controller.abort()
    await expect(call).rejects.toThrow(/abort/)
    expect(requests()).toBe(1)
  })

  it('has no listener left after the call', async () => {
    const { signal } = new AbortController()
    const add = vi.spyOn(signal, 'addEventListener')
    const remove = vi.spyOn(signal, 'removeEventListener')
    await send([reply(503), reply(202)], { signal, retry: { attempts: 2, on: 'any' } })
    expect(add.mock.calls.length).toBeGreaterThan(2)
    expect(remove).toHaveBeenCalledTimes(add.mock.calls.length)
  })
})

describe('retry', () => {
  const any = { attempts: 3, on: 'any' } as const

  it.each([
    ['a reset', reset],
    ['503', reply(503)],
  ] as const)('is off by default after %s', async (_, answer) => {
    await failure(send([answer, reply(202)]))
    expect(requests()).toBe(1)
  })

  it.each([
    ['a reset', reset],
    ['408', reply(408)],
    ['429', reply(429)],
    ['500', reply(500)],
    ['an HTML 502', reply(502, '<html></html>')],
    ['503', reply(503)],
  ] as const)("repeats the same request after %s with 'any'", async (_, answer) => {
    expect(await send([answer, reply(202)], { retry: any })).toMatchObject({ status: 202 })
    expect(server?.requests.map(one => one.body)).toEqual([JSON.stringify(message), JSON.stringify(message)])
  })

  it("repeats the request after a timeout with 'any'", async () => {
    expect(await send([hang, reply(202)], { retry: any, timeout: '300ms' })).toMatchObject({ status: 202 })
  })

  it.each([400, 401, 403, 404, 409, 422, 307])('does not repeat after %i', async status => {
    expect(await failure(send([reply(status), reply(202)], { retry: any }))).toMatchObject({ status })
    expect(requests()).toBe(1)
  })

  it('ends with the last error once all attempts are used', async () => {
    expect(await failure(send(reply(503), { retry: any }))).toMatchObject({ status: 503 })
    expect(requests()).toBe(3)
  })

  it("repeats no request that may have arrived with 'unsent'", async () => {
    for (const answer of [reset, reply(503), reply(429)]) {
      await failure(send([answer, reply(202)], { retry: 'unsent' }))
      expect(requests()).toBe(1)
      await server?.close()
    }
    server = undefined
  })

  it("repeats after a refused connection with 'unsent', until a server listens", async () => {
    const port = await freePort()
    let tries = 0
    const fetch: ClientOptions['fetch'] = async (url, init) => {
      tries++
      const response = globalThis.fetch(url, init)
      await response.catch(async () => {
        server = await startFaultServerOn(port, reply(202))
      })
      return response
    }
    const { messages } = new Client({ apiKey, baseUrl: `http://127.0.0.1:${port}`, fetch })
    expect(await messages.send(message, { retry: 'unsent' })).toMatchObject({ status: 202 })
    expect(tries).toBe(2)
  })

  it.each([
    ['in seconds', () => ({ 'retry-after': '1' })],
    ['as a date', () => ({ 'retry-after': new Date(Date.now() + 2000).toUTCString() })],
    [
      'as a date by a wrong server clock',
      () => ({ date: 'Wed, 01 Jan 2020 00:00:00 GMT', 'retry-after': 'Wed, 01 Jan 2020 00:00:01 GMT' }),
    ],
  ] as const)('waits as long as Retry-After requests, %s', async (_, headers) => {
    const answer: Answer = response => response.writeHead(503, headers()).end()
    await send([answer, reply(202)], { retry: any })
    const [first, second] = server?.requests ?? []
    // A date has only whole seconds.
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(950)
  })

  it('does not wait if Retry-After requests more than a minute, and reports the requested time', async () => {
    const answer = reply(429, '', { 'retry-after': '61' })
    expect(await failure(send(answer, { retry: any }))).toMatchObject({ status: 429, retryAfterMs: 61_000 })
    expect(requests()).toBe(1)
  })

  it('reports the time that Retry-After requests without a retry too', async () => {
    expect(await failure(send(reply(503, '', { 'retry-after': '7' })))).toMatchObject({ retryAfterMs: 7000 })
  })
})
