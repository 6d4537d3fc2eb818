import { until } from '../../lib/until.ts'
import { expectNotHandled, expectReply, whenHandled } from '../expect.ts'
import { type AdapterCase, type AdapterTarget, adapterSuiteOptions } from '../target.ts'
import { exchange, openConnection } from '../wire/connection.ts'
import { newId, signedEvent, signedRequest } from '../wire/signed-event.ts'
import { bodyOfBytes } from './bytes.ts'

const { bodyLimit } = adapterSuiteOptions
/** More than the buffers of both kernels hold: the sender is still writing when the reply arrives. */
const FAR_TOO_LARGE = 8_000_000

/** How large a body may be, and how long it may take. */
export const limitCases: readonly AdapterCase[] = [
  {
    id: 'adapter.limit.exact',
    name: 'a body of exactly the limit is accepted',
    async run(target) {
      const id = newId()
      expectReply(await exchange(target.url, signedRequest(bodyOfBytes(id))), 202, 'accepted')
      await whenHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.exact-chunked',
    name: 'a chunked body of exactly the limit is accepted',
    async run(target) {
      const id = newId()
      const request = { ...signedRequest(bodyOfBytes(id)), framing: 'chunked', chunkBytes: 4096 } as const
      expectReply(await exchange(target.url, request), 202, 'accepted')
      await whenHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.declared',
    name: 'a declared length over the limit is answered 413 before any of the body is sent',
    async run(target) {
      const connection = await openConnection(target.url)
      connection.writeHead(signedRequest(bodyOfBytes(newId(), bodyLimit + 1)))
      expectReply(await connection.reply(), 413, 'body_too_large')
      connection.socket.destroy()
    },
  },
  {
    id: 'adapter.limit.chunked',
    name: 'a chunked body over the limit is answered 413',
    async run(target) {
      const id = newId()
      const request = { ...signedRequest(bodyOfBytes(id, bodyLimit + 1)), framing: 'chunked' } as const
      expectReply(await exchange(target.url, { ...request, chunkBytes: 4096 }), 413, 'body_too_large')
      expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.reply-survives',
    name: 'a sender that is still writing can read the 413, with a declared length and with chunks',
    async run(target) {
      for (const framing of ['length', 'chunked'] as const) {
        const body = Buffer.alloc(FAR_TOO_LARGE, 'x')
        const connection = await openConnection(target.url)
        // Like a sender that reads only after it has written everything.
        connection.socket.pause()
        connection.writeHead({ ...signedEvent().request, body, framing })
        connection.writeBody({ body, framing, chunkBytes: 65_536 })
        setTimeout(() => connection.socket.resume(), 200)
        expectReply(await connection.reply(), 413, 'body_too_large')
        connection.socket.destroy()
      }
    },
  },
  {
    id: 'adapter.limit.drain',
    name: 'a sender that goes on after the 413 is not read for ever: the connection closes',
    run: stopsReading,
  },
  {
    id: 'adapter.limit.slow-body',
    name: 'a body that does not arrive in time is answered 408',
    async run(target) {
      const { id, request } = signedEvent()
      const connection = await openConnection(target.url)
      connection.writeHead(request)
      connection.socket.write('{')
      expectReply(await connection.reply(), 408, 'body_timeout')
      connection.socket.destroy()
      expectNotHandled(target, id)
    },
  },
  {
    id: 'adapter.limit.slow-chunked-body',
    name: 'a chunked body that does not end in time is answered 408',
    async run(target) {
      const connection = await openConnection(target.url)
      connection.writeHead({ ...signedEvent().request, framing: 'chunked' })
      connection.socket.write('1\r\n{\r\n')
      expectReply(await connection.reply(), 408, 'body_timeout')
      connection.socket.destroy()
    },
  },
]

/** Uploads without end, as fast as the server reads, until it closes the connection. */
async function stopsReading(target: AdapterTarget): Promise<void> {
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

async function startUpload(target: AdapterTarget) {
  const connection = await openConnection(target.url)
  const reply = connection.reply()
  const body = Buffer.alloc(bodyLimit + 1, 'x')
  connection.writeHead({ ...signedEvent().request, framing: 'chunked' })
  connection.socket.write(`${body.length.toString(16)}\r\n`)
  connection.socket.write(body)
  connection.socket.write('\r\n')
  return { socket: connection.socket, reply }
}
