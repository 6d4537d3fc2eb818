import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { SECRET, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { toFetchHandler } from '../fetch/to-fetch-handler.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { toNodeHandler } from './to-node-handler.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Starts an upload of which `sent` bytes arrive, and nothing after them. */
function stall(port: number, sent: number): Socket {
  const socket = connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n')
  socket.write(`${sent.toString(16)}\r\n${'x'.repeat(sent)}\r\n`)
  return socket
}

it('refuses bodies beyond body.totalLimit with 503 and Retry-After, and accepts again once the others are gone', async () => {
  const { receiver, seen } = watch({ body: { limit: 1000, totalLimit: 2000, timeout: '30s' } })
  const server = createServer(toNodeHandler(receiver as never))
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { headers, body } = signedRequest()
  const send = () =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: headers as never, body: body as never })
  expect((await send()).status).toBe(202)
  const uploads = [stall(port, 1000), stall(port, 990)]
  await expect.poll(async () => (await send()).status).toBe(503)
  const refused = await send()
  expect(await refused.json()).toMatchObject({ code: 'too_many_bodies' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(seen).toContainEqual(
    expect.objectContaining({ kind: 'rejected', code: 'too_many_bodies', status: 503 }),
  )
  for (const upload of uploads) upload.destroy()
  await expect.poll(async () => (await send()).status).toBe(200)
})

it('counts the bodies of Fetch requests as well, declared or not', async () => {
  const { receiver } = watch({ body: { limit: 1000, totalLimit: 1000, timeout: '30s' } })
  const handle = toFetchHandler(receiver as never)
  let end = (): void => {}
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(950))
      end = () => controller.close()
    },
  })
  const { headers, body } = signedRequest()
  const init = { method: 'POST', headers: headers as never }
  const slow = handle(new Request('http://a/', { ...init, body: stream, duplex: 'half' } as never))
  const send = () => handle(new Request('http://a/', { ...init, body: body as never }))
  await expect.poll(async () => (await send()).status).toBe(503)
  const declared = { 'content-length': '900' }
  const reply = await handle(
    new Request('http://a/', {
      ...init,
      headers: { ...(headers as object), ...declared },
      body: body as never,
    }),
  )
  expect(reply.status).toBe(503)
  end()
  expect((await slow).status).toBe(401)
  expect((await send()).status).toBe(202)
})

it('refuses a limit below that of one body by its name', () => {
  expect(() => createReceiver({ secret: SECRET, body: { totalLimit: 10 } })).toThrow(
    expect.objectContaining({ option: 'body.totalLimit' }),
  )
})

it('refuses a signed body that is too complex with 422', async () => {
  const { receiver, seen } = watch({ body: { depth: 10, values: 20 } })
  const withData = (a: unknown): string =>
    JSON.stringify({ id: 'e', type: 'a', created_at: '2026-01-01T00:00:00Z', data: { a } })
  const deep = withData(JSON.parse('['.repeat(30) + ']'.repeat(30)))
  const wide = withData(Array(30).fill(1))
  for (const text of [deep, wide]) {
    const { status, body } = await receiver.handle(signedRequest(text))
    expect([status, JSON.parse(body).code]).toEqual([422, 'body_too_complex'])
  }
  expect(seen.filter(one => one.kind === 'rejected').map(one => Object(one).detail)).toEqual([
    expect.stringContaining('body.depth'),
    expect.stringContaining('body.values'),
  ])
})
