import { until } from '../../lib/until.ts'
import { expectAccepted, expectNotHandled, expectReply, whenHandled } from '../replies.ts'
import type { AdapterCase, ServerTarget } from '../target.ts'
import { type Connection, openConnection } from '../wire/connection.ts'
import { CLOSED } from '../wire/reply-reader.ts'
import { newId, signedEvent, signedRequest } from '../wire/signed-event.ts'
import { bodyOfBytes } from './bytes.ts'

const SLOW_SOCKETS = 1000
const GOOD_DELIVERIES = 200

/** Cases about connections. */
export const connectionCases: readonly AdapterCase[] = [
  {
    id: 'adapter.abort.declared',
    name: 'an upload that breaks off before its declared length is not handled, and is accepted when sent whole',
    run: target => survivesAbort(target, 'length'),
  },
  {
    id: 'adapter.abort.chunked',
    name: 'a chunked upload that breaks off is not handled, even if the whole event has arrived',
    run: target => survivesAbort(target, 'chunked'),
  },
  {
    id: 'adapter.expect.continue',
    name: 'Expect: 100-continue gets 100, then 202',
    async run(target) {
      const event = signedEvent(target)
      const { request } = event
      const connection = await openConnection(target.url)
      connection.writeHead({ ...request, headers: [...request.headers, ['Expect', '100-continue']] })
      let answered = false
      connection.socket.once('data', () => (answered = true))
      await until(() => answered, '100 Continue arrives')
      connection.writeBody(request)
      const reply = await connection.reply()
      connection.socket.destroy()
      expectReply(reply, 202, 'accepted')
      if (!reply.interim.includes(100)) throw new Error('no 100 arrived before the body was sent')
      await whenHandled(target, event)
    },
  },
  {
    id: 'adapter.expect.refused',
    name: 'Expect: 100-continue with too large a body ends with 413',
    async run(target) {
      const request = signedRequest(target, bodyOfBytes(newId(), target.bodyLimit + 1))
      const connection = await openConnection(target.url)
      connection.writeHead({ ...request, headers: [...request.headers, ['Expect', '100-continue']] })
      expectReply(await connection.reply(), 413, 'body_too_large')
      connection.socket.destroy()
    },
  },
  {
    id: 'adapter.connections.slow',
    name: '1,000 connections with slow bodies do not slow good deliveries, and all get 408 or 503 or are cut off',
    needs: ['open'],
    timeLimitMs: 120_000,
    run: survivesSlowSockets,
  },
]

async function survivesAbort(target: ServerTarget, framing: 'length' | 'chunked'): Promise<void> {
  const event = signedEvent(target)
  const { id, request } = event
  const connection = await openConnection(target.url)
  const { socket } = connection
  const body = Buffer.from(request.body as string)
  // The request announces one byte more than it sends, or never ends its chunks.
  connection.writeHead({ ...request, framing, body: Buffer.alloc(body.length + 1) })
  socket.write(framing === 'chunked' ? `${body.length.toString(16)}\r\n` : '')
  await new Promise(resolve => socket.write(body, resolve))
  socket.destroy()
  // Gives the server time to notice the end, measured by other deliveries.
  await medianLatency(target, target.handled === undefined ? 20 : GOOD_DELIVERIES)
  if (target.handled !== undefined) await expectNotHandled(target, id)
  await expectAccepted(target, event)
}

/**
 * Judges latencies by their median, with a wide margin, because the same machine runs the senders. A delivery that
 * waits for the slow ones would take seconds.
 */
async function survivesSlowSockets(target: ServerTarget): Promise<void> {
  await medianLatency(target)
  const before = await medianLatency(target)
  const slow = await Promise.all(Array.from({ length: SLOW_SOCKETS }, () => openSlowly(target)))
  const statuses = Promise.all(slow.map(connection => connection.reply().then(statusOf, cutOff)))
  const trickle = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write(' ')
  }, 500)
  try {
    const during = await medianLatency(target)
    if (during > Math.max(4 * before, before + 100)) {
      throw new Error(`the median delivery took ${during.toFixed(1)} ms instead of ${before.toFixed(1)} ms`)
    }
    // A receiver may give up the slowest for others: it has not taken their events.
    const others = (await statuses).filter(status => status !== 408 && status !== 503)
    if (others.length > 0) throw new Error(`${others.length} slow connections got ${others[0]}`)
  } finally {
    clearInterval(trickle)
    for (const { socket } of slow) socket.destroy()
  }
}

function statusOf({ status }: { readonly status: number }): number {
  return status
}

/** A server may close while the sender still writes, and the reset may overtake its reply. */
function cutOff(error: Error): number {
  if (error.message !== CLOSED) throw error
  return 408
}

async function openSlowly(target: ServerTarget): Promise<Connection> {
  const connection = await openConnection(target.url)
  connection.socket.on('error', () => {})
  connection.writeHead(signedEvent(target).request)
  return connection
}

async function medianLatency(target: ServerTarget, deliveries: number = GOOD_DELIVERIES): Promise<number> {
  const connection = await openConnection(target.url)
  const latencies: number[] = []
  for (let i = 0; i < deliveries; i++) {
    const { request } = signedEvent(target)
    const startedAt = performance.now()
    expectReply(await connection.send(request), 202, 'accepted')
    latencies.push(performance.now() - startedAt)
  }
  connection.socket.destroy()
  return latencies.sort((a, b) => a - b)[deliveries / 2] as number
}
