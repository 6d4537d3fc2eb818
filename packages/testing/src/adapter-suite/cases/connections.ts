import { type Connection, exchange, openConnection, writeBody } from '../exchange.ts'
import { expectNotHandled, expectReply, until, whenHandled } from '../expectations.ts'
import { CLOSED } from '../reply-reader.ts'
import { newId, signedEvent, signedRequest } from '../signed-event.ts'
import { type AdapterCase, type AdapterTarget, adapterSuiteOptions } from '../target.ts'
import { bodyOfBytes } from './bytes.ts'

const SLOW_SOCKETS = 1000
const GOOD_DELIVERIES = 200

/** What senders do to connections. */
export const connectionCases: readonly AdapterCase[] = [
  {
    id: 'adapter.abort.declared',
    name: 'an upload that breaks off before its declared length is not handled, and is accepted when it comes whole',
    run: target => survivesAbort(target, 'length'),
  },
  {
    id: 'adapter.abort.chunked',
    name: 'a chunked upload that breaks off is not handled, though all of the event has arrived',
    run: target => survivesAbort(target, 'chunked'),
  },
  {
    id: 'adapter.expect.continue',
    name: 'Expect: 100-continue is answered 100, then 202',
    async run(target) {
      const { id, request } = signedEvent()
      const { socket, reply, writeHead } = await openConnection(target.url)
      writeHead({ ...request, headers: [...request.headers, ['Expect', '100-continue']] })
      let answered = false
      socket.once('data', () => (answered = true))
      await until(() => answered || undefined, 'no 100 Continue came')
      writeBody(socket, request)
      const answer = await reply()
      socket.destroy()
      expectReply(answer, 202, 'accepted')
      if (!answer.interim.includes(100)) throw new Error('there was no 100 before the body was sent')
      await whenHandled(target, id)
    },
  },
  {
    id: 'adapter.expect.refused',
    name: 'Expect: 100-continue with too large a body ends with 413',
    async run(target) {
      const request = signedRequest(bodyOfBytes(newId(), adapterSuiteOptions.bodyLimit + 1))
      const { socket, reply, writeHead } = await openConnection(target.url)
      writeHead({ ...request, headers: [...request.headers, ['Expect', '100-continue']] })
      expectReply(await reply(), 413, 'body_too_large')
      socket.destroy()
    },
  },
  {
    id: 'adapter.connections.slow',
    name: '1,000 connections with slow bodies do not slow good deliveries, and are all answered 408 or cut off',
    run: survivesSlowSockets,
  },
]

async function survivesAbort(target: AdapterTarget, framing: 'length' | 'chunked'): Promise<void> {
  const { id, request } = signedEvent()
  const { socket, writeHead } = await openConnection(target.url)
  const body = Buffer.from(request.body as string)
  // One byte more is announced than comes; with chunks it is the end that never comes.
  writeHead({ ...request, framing, body: Buffer.alloc(body.length + 1) })
  socket.write(framing === 'chunked' ? `${body.length.toString(16)}\r\n` : '')
  await new Promise(resolve => socket.write(body, resolve))
  socket.destroy()
  // Time for the server to see the end, measured in what it does meanwhile.
  await medianLatency(target)
  expectNotHandled(target, id)
  expectReply(await exchange(target.url, request), 202, 'accepted')
  await whenHandled(target, id)
}

/**
 * Latencies are judged by their median, and generously, because whoever runs this also runs the senders: what
 * is looked for are deliveries that wait for the slow ones, which would take seconds.
 */
async function survivesSlowSockets(target: AdapterTarget): Promise<void> {
  await medianLatency(target)
  const before = await medianLatency(target)
  const slow = await Promise.all(Array.from({ length: SLOW_SOCKETS }, () => openSlowly(target)))
  const statuses = Promise.all(slow.map(({ reply }) => reply().then(statusOf, cutOff)))
  const trickle = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write(' ')
  }, 500)
  try {
    const during = await medianLatency(target)
    if (during > Math.max(4 * before, before + 100)) {
      throw new Error(`the median delivery took ${during.toFixed(1)} ms instead of ${before.toFixed(1)} ms`)
    }
    const others = (await statuses).filter(status => status !== 408)
    if (others.length > 0) throw new Error(`${others.length} slow connections were answered ${others[0]}`)
  } finally {
    clearInterval(trickle)
    for (const { socket } of slow) socket.destroy()
  }
}

function statusOf({ status }: { readonly status: number }): number {
  return status
}

/** A server may close after its reply while the sender still writes, and the reset overtakes the reply. */
function cutOff(error: Error): number {
  if (error.message !== CLOSED) throw error
  return 408
}

async function openSlowly(target: AdapterTarget): Promise<Connection> {
  const connection = await openConnection(target.url)
  connection.socket.on('error', () => {})
  connection.writeHead(signedEvent().request)
  return connection
}

async function medianLatency(target: AdapterTarget): Promise<number> {
  const connection = await openConnection(target.url)
  const latencies: number[] = []
  for (let i = 0; i < GOOD_DELIVERIES; i++) {
    const { request } = signedEvent()
    const startedAt = performance.now()
    expectReply(await connection.send(request), 202, 'accepted')
    latencies.push(performance.now() - startedAt)
  }
  connection.socket.destroy()
  return latencies.sort((a, b) => a - b)[GOOD_DELIVERIES / 2] as number
}
