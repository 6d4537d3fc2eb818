import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmulator } from '@ackhook/emulator'
import { scratchFolder } from '../lib/engines.mjs'
import { geometricInterval } from '../lib/interval.mjs'
import { measureInProcess } from '../lib/measure-in-process.mjs'
import { percentile } from '../lib/percentile.mjs'
import { showNumber, table } from '../lib/table.mjs'

const BATCH = 100
/** Repetitions; each gives one value of the interval. */
const PARTS = 10
const START = new URL('emulator/start-child.mjs', import.meta.url)
const SECRET = 'whsec_bench_0123456789abcdef'

/** Measures the emulator over HTTP: start, intake and delivery of events, pages of a full log, and the cost of waiting. */
export async function measureEmulator({ quick }) {
  const folder = scratchFolder()
  try {
    const startMs = await measureStart(quick ? 5 : 15)
    const ingest = await measureIngest(join(folder.path, 'ingest.db'), quick ? 5000 : 20_000)
    const delivered = await measureDelivery(join(folder.path, 'delivery.db'), quick ? 3000 : 10_000)
    const queries = await measureQueries(join(folder.path, 'log.db'), 100_000, quick ? 20 : 60)
    const idle = await measureIdle(join(folder.path, 'idle.db'), 10_000, quick ? 3 : 10)
    return {
      markdown: [
        '## Emulator',
        'One process, a file for its state, events of about 200 B, batches of 100 over HTTP.',
        table(
          ['', 'measured'],
          [
            ['start in a new process, imports included, ms', showMeasured(startMs)],
            ['taken in while the endpoint is paused, events/s', showMeasured(ingest)],
            ['taken in, delivered and recorded, events/s', showNumber(delivered)],
            ['processor while 10,000 retries wait, % of a core', showNumber(idle)],
          ],
        ),
        'Pages of 50 at 100,000 deliveries, ms:',
        table(
          ['filter', 'p50', 'p95'],
          queries.map(({ name, p50, p95 }) => [name, showNumber(p50), showNumber(p95)]),
        ),
      ].join('\n\n'),
      figures: {
        startMs,
        ingest,
        delivered,
        idle,
        slowestP95: Math.max(...queries.map(one => one.p95)),
      },
    }
  } finally {
    folder.remove()
  }
}

async function measureStart(rounds) {
  const times = []
  for (let round = 0; round < rounds; round++) times.push((await measureInProcess(START)).ms)
  return geometricInterval(times)
}

async function measureIngest(data, count) {
  const emulator = await startEmulator({ port: 0, data, to: 'http://127.0.0.1:9/', secret: SECRET })
  await emulator.api.endpoints.pause()
  await takeIn(emulator, 1000)
  const rates = []
  for (let part = 0; part < PARTS; part++) {
    const startedAt = performance.now()
    await takeIn(emulator, count / PARTS)
    rates.push(count / PARTS / ((performance.now() - startedAt) / 1000))
  }
  await emulator.close()
  return geometricInterval(rates)
}

async function measureDelivery(data, count) {
  const receiver = await startReceiver(202)
  const emulator = await startEmulator({ port: 0, data, to: receiver.url, secret: SECRET })
  const startedAt = performance.now()
  await takeIn(emulator, count)
  await emulator.wait({ idle: true, timeout: '60s' })
  const perSecond = count / ((performance.now() - startedAt) / 1000)
  await emulator.close()
  receiver.close()
  return perSecond
}

async function measureQueries(data, count, rounds) {
  const receiver = await startReceiver(202)
  const options = {
    port: 0,
    data,
    secret: SECRET,
    retention: { deliveries: 1_000_000, undelivered: 1_000_000 },
  }
  // Half of the deliveries wait at a paused endpoint, the rest are skipped: rows of both kinds, without a request.
  const emulator = await startEmulator({ ...options, to: receiver.url })
  await emulator.api.endpoints.put({ paused: true, categories: ['conversation', 'call'] })
  await takeIn(emulator, count)
  const filters = {
    'newest page': '',
    'deep page': `after=${Math.floor(count / 2)}`,
    state: 'state=skipped',
    'state without a match': 'state=undelivered',
    'type and state': 'type=call.started&state=pending',
    'workspace and category': 'workspace=default&category=contact',
    'kind without a match': 'kind=replay',
    'status without a match': 'status=500',
    'time without a match': 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z',
    'text in every event': 'text=conversation_id',
    'text in one event': 'text=needle-77777',
    'text in none': 'text=no-such-text',
    'text and state without a match': 'text=channel&state=undelivered',
    'text and type': 'text=channel&type=call.missed',
  }
  const results = []
  for (const [name, query] of Object.entries(filters)) {
    const times = []
    for (let round = 0; round < rounds; round++) {
      const startedAt = performance.now()
      const reply = await fetch(`${emulator.url}/_emulator/v1/deliveries?${query}`)
      await reply.arrayBuffer()
      if (!reply.ok) throw new Error(`${name} got ${reply.status}`)
      times.push(performance.now() - startedAt)
    }
    results.push({ name, p50: percentile(times, 0.5), p95: percentile(times, 0.95) })
  }
  await emulator.close()
  receiver.close()
  return results
}

/** Returns the share of a core that a process uses while retries wait. */
async function measureIdle(data, count, seconds) {
  const receiver = await startReceiver(503)
  const emulator = await startEmulator({
    ...{ port: 0, data, to: receiver.url, secret: SECRET },
    delivery: { minDelay: '1h', attempts: 3 },
  })
  await takeIn(emulator, count)
  await emulator.wait({ status: 503, count, timeout: '60s' })
  receiver.close()
  await sleep(1000)
  const before = process.cpuUsage()
  await sleep(seconds * 1000)
  const { user, system } = process.cpuUsage(before)
  await emulator.close()
  return (user + system) / (seconds * 10_000)
}

function showMeasured({ middle, low, high }) {
  return `${showNumber(middle)} (${showNumber(low)} to ${showNumber(high)})`
}

let taken = 0
const TYPES = ['conversation.resolved', 'call.started', 'call.missed', 'contact.updated']

async function takeIn(emulator, count) {
  for (let sent = 0; sent < count; sent += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - sent) }, () => {
      const number = taken++
      return {
        type: TYPES[number % 4],
        data: { conversation_id: `cnv_${number}`, channel: 'whatsapp', note: `needle-${number}` },
      }
    })
    const reply = await fetch(`${emulator.url}/_emulator/v1/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-ackhook': '1' },
      body: JSON.stringify({ events }),
    })
    if (reply.status !== 202) throw new Error(`an event batch got ${reply.status}: ${await reply.text()}`)
    await reply.arrayBuffer()
  }
}

async function startReceiver(status) {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(status).end()),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() }
}
