import { redisStore } from '@ackhook/redis'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { startRedis } from '../lib/engines.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { percentile } from '../lib/percentile.mjs'
import { Sender } from '../lib/sender.mjs'
import { startServer } from '../lib/server.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const BARE = 'SET NX PX'
const CLAIM = 'redisStore claim'
/** Short, so that other load on the machine slows both contenders of a round. */
const SAMPLE_MS = 100

/** Compares the Redis store's claims with a bare `SET NX PX` by the same client, and measures its cost over HTTP. */
export async function measureRedis({ quick }) {
  const redis = await startRedis()
  try {
    const alone = await claims(redis, quick)
    const memory = await bytesPerId(redis)
    const http = await overHttp(redis, quick)
    return {
      markdown: [
        '## Redis',
        `Redis ${redis.version} on the same machine, ioredis. CPU: processor time of client and server together per claim, as a ratio to the bare command. Other load on the machine affects it less than a rate.`,
        alone.markdown,
        memory.markdown,
        http.markdown,
      ].join('\n\n'),
      figures: { claims: alone.figures, bytes: memory.bytes, http: http.figures },
    }
  } finally {
    await redis.stop()
  }
}

let number = 0
const nextKey = () => String(number++).padStart(22, '0')

async function claims({ client, cpuUs }, quick) {
  const store = redisStore(client)
  const ways = {
    [BARE]: () => client.set(`ackhook:${nextKey()}`, 'token', 'PX', 60_000, 'NX'),
    [CLAIM]: () => store.claim(nextKey(), 'token', { leaseMs: 60_000 }),
  }
  const rows = []
  const figures = {}
  for (const inFlight of [1, 64, 256]) {
    const measure = async name => {
      const before = await cpuUs()
      const sample = await keepInFlight(ways[name], { inFlight, ms: SAMPLE_MS })
      const server = ((await cpuUs()) - before) / sample.calls
      return { ...sample, cpuUs: sample.cpuUs + server }
    }
    for (let warmUp = 0; warmUp < 10; warmUp++) for (const name of [BARE, CLAIM]) await measure(name)
    const found = await compareRounds(inTurns([BARE, CLAIM], measure), {
      quick,
      ...{ fewest: 20, most: 150, seconds: 20 },
      decides: [['perSecond', CLAIM, BARE]],
    })
    const speed = found.ratioOf('perSecond', CLAIM, BARE)
    const cpu = found.ratioOf('cpuUs', CLAIM, BARE)
    rows.push([
      inFlight,
      showNumber(found.middleOf('perSecond', BARE)),
      showNumber(found.middleOf('perSecond', CLAIM)),
      showDecided(speed),
      showDecided(cpu),
      showNumber(found.middleOf('p99Ms', BARE)),
      showNumber(found.middleOf('p99Ms', CLAIM)),
    ])
    figures[inFlight] = { speed, cpu }
    await client.flushall()
  }
  const head = ['in flight', 'SET NX PX /s', 'claims/s', 'ratio', 'CPU', 'p99 ms bare', 'p99 ms claim']
  return { markdown: table(head, rows), figures }
}

async function bytesPerId({ client }) {
  const store = redisStore(client)
  const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))[1])
  const before = await used()
  const count = 100_000
  for (let from = 0; from < count; from += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const key = nextKey()
        await store.claim(key, 'token', { leaseMs: 60_000 })
        await store.complete(key, 'token', { retentionMs: 604_800_000, fingerprint: 1234 })
      }),
    )
  }
  const bytes = Math.round(((await used()) - before) / count)
  await client.flushall()
  return {
    bytes,
    markdown: `Redis memory per remembered id, at ${count.toLocaleString('en-GB')} ids: ${bytes} bytes.`,
  }
}

async function overHttp({ url }, quick) {
  const [memory, redis] = ['ackhook', 'ackhook, redis']
  const open = variant => openLoaded(variant, url)
  const loaded = { [memory]: [await open(memory)], [redis]: [await open(redis)] }
  const two = `${redis}, two processes`
  loaded[two] = [...loaded[redis], await open(redis)]
  const measure = async name => {
    const all = await Promise.all(loaded[name].map(({ sender }) => sender.load(0.4)))
    return {
      perSecond: all.reduce((sum, { perSecond }) => sum + perSecond, 0),
      p99Ms: percentile(
        all.flatMap(({ latencies }) => [...latencies]),
        0.99,
      ),
    }
  }
  const found = await compareRounds(inTurns([memory, redis, two], measure), {
    quick,
    ...{ fewest: 10, most: 40, seconds: 30 },
    decides: [['perSecond', redis, memory]],
  })
  for (const { server, sender } of [...loaded[memory], ...loaded[two]]) {
    sender.close()
    await server.stop()
  }
  const speed = found.ratioOf('perSecond', redis, memory)
  const row = (title, name, ratio) => [
    title,
    showNumber(found.middleOf('perSecond', name)),
    ratio,
    showNumber(found.middleOf('p99Ms', name)),
  ]
  const rows = [
    row('memoryStore', memory, '1'),
    row('redisStore', redis, showDecided(speed)),
    row('redisStore, two processes', two, showDecided(found.ratioOf('perSecond', two, memory))),
  ]
  return {
    markdown: `Over HTTP, \`node:http\`, 2 KB, 64 connections to each process. Sender, Redis and receivers share the cores, so two processes show what a shared store allows, not what two machines achieve:\n\n${table(['', 'requests/s', 'ratio', 'p99 ms'], rows)}`,
    figures: { speed },
  }
}

async function openLoaded(variant, url) {
  const server = await startServer('node-http', variant, { env: { BENCH_REDIS_URL: url } })
  const sender = await Sender.open({ port: server.port, body: eventBody(2000), connections: 64 })
  await sender.load(2)
  return { server, sender }
}
