import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { eventBody, SECRET, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { toFetchHandler } from '../fetch/to-fetch-handler.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { toNodeHandler } from './to-node-handler.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Starts an upload of which `sent` bytes arrive, and nothing after them. */
function stall(port: number, sent: number): { readonly socket: Socket; readonly reply: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  closing.push(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n')
  socket.write(`${sent.toString(16)}\r\n${'x'.repeat(sent)}\r\n`)
  return { socket, reply: once(socket, 'data').then(([bytes]) => String(bytes)) }
}

async function serve(options: object) {
  const watched = watch(options)
  const server = createServer(toNodeHandler(watched.receiver as never))
  closing.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const send = (id: string) => {
    const { headers, body } = signedRequest(eventBody({ id }))
    const init = { method: 'POST', headers: headers as never, body: body as never }
    return fetch(`http://127.0.0.1:${port}/`, init)
  }
  return { ...watched, port, send }
}

it('gives up the body that waits longest with 503 and Retry-After, and accepts each delivery meanwhile', async () => {
  const { port, send, seen } = await serve({
    body: { limit: 1000, totalLimit: 2000, timeout: '30s' },
  })
  const first = stall(port, 990)
  await expect.poll(() => seen.filter(one => one.kind === 'received').length).toBe(1)
  expect((await send('evt_1')).status).toBe(202)
  const second = stall(port, 990)
  await expect.poll(() => seen.filter(one => one.kind === 'received').length).toBe(3)
  expect((await send('evt_2')).status).toBe(202)
  expect(await first.reply).toMatch(/^HTTP\/1.1 503 [\s\S]*retry-after: \d+[\s\S]*too_many_bodies/)
  expect(seen).toContainEqual(
    expect.objectContaining({ kind: 'rejected', code: 'too_many_bodies', status: 503 }),
  )
  expect(second.socket.bytesRead).toBe(0)
})

it('holds no more of large bodies than the total, whatever they declare', async () => {
  const { port, send, seen } = await serve({ body: { limit: 100_000, totalLimit: 250_000, timeout: '30s' } })
  const uploads = Array.from({ length: 6 }, () => stall(port, 99_000))
  for (const { reply } of uploads) reply.catch(() => {})
  await expect.poll(() => seen.filter(one => one.kind === 'rejected').length).toBe(4)
  expect((await send('evt_1')).status).toBe(202)
})

describe('a Fetch request', () => {
  const init = (id: string, headers: object = {}) => {
    const { headers: signed, body } = signedRequest(eventBody({ id }))
    return { method: 'POST', headers: { ...(signed as object), ...headers }, body } as never
  }
  const stalled = (bytes: number, headers: object = {}) => {
    const stream = new ReadableStream({ start: controller => controller.enqueue(new Uint8Array(bytes)) })
    return new Request('http://a/', { method: 'POST', headers, body: stream, duplex: 'half' } as never)
  }

  it.each([
    ['declares a length', { 'content-length': '65535' }],
    ['declares none', {}],
  ])('that %s gives way to others once too many are read', async (_, headers) => {
    const { receiver } = watch({ body: { limit: 65_536, totalLimit: 3 * 65_536, timeout: '30s' } })
    const handle = toFetchHandler(receiver as never)
    const slow = Array.from({ length: 5 }, () => handle(stalled(1, headers)))
    for (let i = 0; i < 20; i++)
      expect((await handle(new Request('http://a/', init(`evt_${i}`)))).status).toBe(202)
    const replies = await Promise.all(slow.slice(0, 3))
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(await Promise.race([...slow.slice(3), 'still read'])).toBe('still read')
  })

  it('is charged for nothing that it only declares', async () => {
    const { receiver } = watch({ body: { timeout: '30s' } })
    const handle = toFetchHandler(receiver as never)
    const heads = Array.from({ length: 640 }, () => handle(stalled(0, { 'content-length': '1048576' })))
    expect((await handle(new Request('http://a/', init('evt_1')))).status).toBe(202)
    const large = eventBody({ id: 'evt_2', data: { text: 'x'.repeat(900_000) } })
    const signed = signedRequest(large)
    const headers = { ...(signed.headers as object), 'content-length': `${large.length}` }
    const request = new Request('http://a/', { method: 'POST', headers, body: large } as never)
    expect((await handle(request)).status).toBe(202)
    expect(await Promise.race([...heads, 'still read'])).toBe('still read')
  })

  it('of which too much has arrived is given up', async () => {
    const { receiver } = watch({ body: { totalLimit: 1_048_576, timeout: '30s' } })
    const handle = toFetchHandler(receiver as never)
    const first = handle(stalled(600_000))
    const second = handle(stalled(600_000))
    const reply = await first
    expect([reply.status, Object(await reply.json()).code]).toEqual([503, 'too_many_bodies'])
    expect((await handle(new Request('http://a/', init('evt_1')))).status).toBe(202)
    expect(await Promise.race([second, 'still read'])).toBe('still read')
  })
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
