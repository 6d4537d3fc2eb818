// Prints the bytes that a delivery allocates on a receiver with the tool named by the argument, or with none.
import { recordDeliveries, watchDrift } from '@ackhook/contract'
import { createReceiver } from '@ackhook/core'
import { createEvent, signedRequest } from '@ackhook/testing'

const WARM_UP = 4000
const DELIVERIES = 4000
const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }
const EVENT = createEvent('message.received', {
  data: {
    text: 'x',
    n: 12,
    to: [
      { kind: 'a', at: '2026-01-01T00:00:00Z' },
      { kind: 'b', at: null },
    ],
    deep: { x: { y: 1.5 }, ok: true },
  },
})
const KNOWN = {
  format: 'ackhook-recording-1',
  kept: 'all',
  signature: { header: 'x-service-signature', scheme: 'v1', timestampUnit: 'seconds' },
  event: EVENT,
}
const TOOLS = {
  none: () => {},
  drift: receiver => watchDrift(receiver, { known: [KNOWN] }),
  record: receiver => recordDeliveries(receiver, { write() {}, sample: 1 }),
}

async function bytesWith(tool) {
  const receiver = createReceiver({ secret, logger, capacity: 1_000_000, concurrency: 0, inbox: swallowing })
  TOOLS[tool](receiver)
  const request = {
    ...signedRequest(EVENT, { secret }),
    context: undefined,
  }
  const send = async count => {
    for (let left = count; left > 0; left--) await receiver.handle(request)
  }
  await send(WARM_UP)
  globalThis.gc()
  await send(500)
  const before = process.memoryUsage().heapUsed
  await send(DELIVERIES)
  return Math.round((process.memoryUsage().heapUsed - before) / DELIVERIES)
}

/** Acknowledges, and stores nothing. */
const swallowing = {
  durable: true,
  accept: () => ({ outcome: 'duplicate' }),
  start() {},
  close: () => ({ completed: 0, lost: 0 }),
  stats: () => ({}),
  deadLetters: {},
}

console.log(await bytesWith(process.argv[2]))
