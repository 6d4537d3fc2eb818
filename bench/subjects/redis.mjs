import { redisStore } from '@ackhook/redis'
import { startRedis } from '../lib/engines.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { load } from '../lib/load.mjs'
import { each, interleave, median, ratio } from '../lib/rounds.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

/** Claims of the Redis store against a bare `SET NX PX` by the same client, and what it costs over HTTP. */
export async function measureRedis({ quick }) {
  const redis = await startRedis()
  try {
    const alone = await claims(redis, quick ? 5 : 15)
    const memory = await bytesPerId(redis)
    const http = await overHttp(redis, quick ? 3 : 5)
    return {
      markdown: [
        '## Redis',
        `Redis ${redis.version} on the same machine, ioredis. CPU: processor time of client and server together for each claim, as a ratio to the bare command; other load on the machine disturbs it less than a rate.`,
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

async function claims({ client, cpuUs }, rounds) {
  const store = redisStore(client)
  const ways = {
    'SET NX PX': () => client.set(`ackhook:${nextKey()}`, 'token', 'PX', 60_000, 'NX'),
    'redisStore claim': () => store.claim(nextKey(), 'token', { leaseMs: 60_000 }),
  }
  const rows = []
  const figures = {}
  for (const inFlight of [1, 64, 256]) {
    const samples = await interleave(Object.keys(ways), {
      rounds,
      warmUps: 2,
      async measure(name) {
        const before = await cpuUs()
        const sample = await keepInFlight(ways[name], { inFlight, ms: 200 })
        const server = ((await cpuUs()) - before) / sample.calls
        return { ...sample, cpuUs: sample.cpuUs + server }
      },
    })
    const [bare, ours] = Object.keys(ways).map(name => samples.get(name))
    const ratioOf = field => ratio(each(ours, field), each(bare, field))
    rows.push([
      inFlight,
      showNumber(median(each(bare, 'perSecond'))),
      showNumber(median(each(ours, 'perSecond'))),
      showRatio(ratioOf('perSecond')),
      showRatio(ratioOf('cpuUs')),
      showNumber(median(each(bare, 'p99Ms'))),
      showNumber(median(each(ours, 'p99Ms'))),
    ])
    figures[inFlight] = { speed: ratioOf('perSecond'), cpu: ratioOf('cpuUs') }
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
    markdown: `Redis memory a remembered id, at ${count.toLocaleString('en-GB')} ids: ${bytes} bytes.`,
  }
}

async function overHttp({ url }, rounds) {
  const variants = ['ackhook', 'ackhook, redis']
  const servers = new Map()
  for (const variant of variants)
    servers.set(variant, await startServer('node-http', variant, { env: { BENCH_REDIS_URL: url } }))
  const run = (variant, seconds = 1.2) =>
    load({ port: servers.get(variant).port, body: eventBody(2000), connections: 64, seconds })
  for (const variant of variants) await run(variant, 2)
  const samples = await interleave(variants, { rounds, measure: variant => run(variant) })
  for (const server of servers.values()) await server.stop()
  const speeds = variant => each(samples.get(variant), 'perSecond')
  const speed = ratio(speeds('ackhook, redis'), speeds('ackhook'))
  const rows = variants.map(variant => [
    variant === 'ackhook' ? 'memoryStore' : 'redisStore',
    showNumber(median(speeds(variant))),
    variant === 'ackhook' ? '1' : showRatio(speed),
    showNumber(median(each(samples.get(variant), 'p99Ms'))),
  ])
  return {
    markdown: `Over HTTP, \`node:http\`, 2 KB, 64 connections:\n\n${table(['', 'requests/s', 'ratio', 'p99 ms'], rows)}`,
    figures: { speed },
  }
}
