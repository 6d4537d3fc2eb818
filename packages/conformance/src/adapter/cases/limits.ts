import { until } from '../../lib/until.ts'
import { expectAccepted, expectNotHandled, expectReply } from '../replies.ts'
import type { AdapterCase, ServerTarget } from '../target.ts'
import { exchange, openConnection, type WireRequest } from '../wire/connection.ts'
import type { WireReply } from '../wire/reply-reader.ts'
import { newId, signedEvent, signedRequest } from '../wire/signed-event.ts'
import { bodyOfBytes } from './bytes.ts'

/** Larger than both kernels' buffers, so that the sender is still writing when the reply arrives. */
const FAR_TOO_MUCH = 8_000_000

/** Cases about a body's size, and the time it takes to arrive. */
export const limitCases: readonly AdapterCase[] = [
  {
    id: 'adapter.limit.exact',
    name: 'a body of exactly the limit is accepted',
    async run(target) {
      const id = newId()
      await expectAccepted(target, { id, request: signedRequest(target, bodyOfBytes(id, target.bodyLimit)) })
    },
  },
  {
    id: 'adapter.limit.exact-chunked',
    name: 'a chunked body of exactly the limit is accepted',
    async run(target) {
      const id = newId()
      const request = signedRequest(target, bodyOfBytes(id, target.bodyLimit))
      await expectAccepted(target, { id, request }, { framing: 'chunked', chunkBytes: 4096 })
    },
  },
  {
    id: 'adapter.limit.declared',
    name: 'a declared length over the limit gets 413 before any of the body is sent',
    async run(target) {
      const connection = await openConnection(target.url)
      connection.writeHead(signedRequest(target, bodyOfBytes(newId(), target.bodyLimit + 1)))
      expectReply(await connection.reply(), 413, 'body_too_large')
      connection.socket.destroy()
    },
  },
  {
    id: 'adapter.limit.chunked',
    name: 'a chunked body over the limit gets 413',
    async run(target) {
      const id = newId()
      const request = signedRequest(target, bodyOfBytes(id, target.bodyLimit + 1))
      expectReply(
        await exchange(target.url, { ...request, framing: 'chunked', chunkBytes: 4096 }),
        413,
        'body_too_large',
      )
      await expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.reply-survives',
    name: 'a sender that is still writing can read the 413, with a declared length and with chunks',
    run: target => replySurvives(target, []),
  },
  {
    id: 'adapter.limit.reply-survives-close',
    name: 'a sender that is still writing can read the 413 if it sent `Connection: close`',
    run: target => replySurvives(target, [['connection', 'close']]),
  },
  {
    id: 'adapter.limit.drain',
    name: 'a sender that continues after the 413 is not read forever: the connection closes',
    run: stopsReading,
  },
  {
    id: 'adapter.limit.slow-body',
    name: 'a body that does not arrive in time gets 408',
    async run(target) {
      const { id, request } = signedEvent(target)
      const connection = await openConnection(target.url)
      connection.writeHead(request)
      connection.socket.write('{')
      expectReply(await connection.reply(), 408, 'body_timeout')
      connection.socket.destroy()
      await expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.slow-chunked-body',
    name: 'a chunked body that does not end in time gets 408',
    async run(target) {
      const connection = await openConnection(target.url)
      connection.writeHead({ ...signedEvent(target).request, framing: 'chunked' })
      connection.socket.write('1\r\n{\r\n')
      expectReply(await connection.reply(), 408, 'body_timeout')
      connection.socket.destroy()
    },
  },
]

/** For so long the sender reads nothing. */
const PAUSE_MS = 200
/** A sender that read nothing for so long, on a busy machine, may find the connection closed by any server. */
const STALLED_MS = 400
const TRIES = 5

/** Reads the reply only after a pause, while far more than the limit is being written. */
async function replySurvives(
  target: ServerTarget,
  headers: NonNullable<WireRequest['headers']>,
): Promise<void> {
  for (const framing of ['length', 'chunked'] as const) {
    const { request } = signedEvent(target)
    const body = Buffer.alloc(target.bodyLimit + FAR_TOO_MUCH, 'x')
    const upload = { ...request, headers: [...request.headers, ...headers], body, framing }
    expectReply(await replyAfterPause(target.url, upload), 413, 'body_too_large')
  }
}

/** Uploads again if this process was stalled during the pause: a reply that is lost then is not the server's fault. */
async function replyAfterPause(url: string, upload: WireRequest): Promise<WireReply> {
  for (let tries = 1; ; tries++) {
    const connection = await openConnection(url)
    // Some senders read only after they have sent everything.
    connection.socket.pause()
    const begun = performance.now()
    let resumed: number | undefined
    connection.writeHead(upload)
    connection.writeBody({ ...upload, chunkBytes: 65_536 })
    setTimeout(() => {
      resumed = performance.now()
      connection.socket.resume()
    }, PAUSE_MS)
    try {
      return await connection.reply()
    } catch (error) {
      if (tries === TRIES || (resumed ?? performance.now()) - begun < STALLED_MS) throw error
    } finally {
      connection.socket.destroy()
    }
  }
}

/** Uploads without end, as fast as the server reads, until the server closes the connection. */
async function stopsReading(target: ServerTarget): Promise<void> {
  const { socket, ...head } = await startUpload(target)
  let isClosed = false
  socket.on('error', () => {}).on('close', () => (isClosed = true))
  expectReply(await head.reply, 413, 'body_too_large')
  const chunk = Buffer.alloc(65_536, 'x')
  const upload = setInterval(() => {
    if (socket.writable && socket.writableLength < chunk.length) {
      socket.write('10000\r\n')
      socket.write(chunk)
      socket.write('\r\n')
    }
  }, 5)
  try {
    await until(() => isClosed, 'the connection closes')
  } finally {
    clearInterval(upload)
    socket.destroy()
  }
}

async function startUpload(target: ServerTarget) {
  const connection = await openConnection(target.url)
  const reply = connection.reply()
  const body = Buffer.alloc(target.bodyLimit + 1, 'x')
  connection.writeHead({ ...signedEvent(target).request, framing: 'chunked' })
  connection.socket.write(`${body.length.toString(16)}\r\n`)
  connection.socket.write(body)
  connection.socket.write('\r\n')
  return { socket: connection.socket, reply }
}
