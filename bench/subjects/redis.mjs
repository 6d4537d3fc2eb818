import { redisStore } from '@ackhook/redis'
import { startRedis } from '../lib/engines.mjs'
import { eventBody } from '../lib/event-body.mjs'
import { keepInFlight } from '../lib/in-flight.mjs'
import { load } from '../lib/load.mjs'
import { interleave, median, ratio } from '../lib/rounds.mjs'
import { startServer } from '../lib/server.mjs'
import { showNumber, showRatio, table } from '../lib/table.mjs'

/** Claims of the Redis store against a bare `SET NX PX` by the same client, and what it costs over HTTP. */
export async function measureRedis({ quick }) {
  const redis = await startRedis()
  try {
    return [
      '## Redis',
      `Redis ${redis.version} on the same machine, ioredis.`,
      await claims(redis, quick ? 3 : 7),
      await bytesPerId(redis),
      await overHttp(redis, quick ? 3 : 5),
    ].join('\n\n')
  } finally {
    await redis.stop()
  }
}

let number = 0
const nextKey = () => String(number++).padStart(22, '0')

async function claims({ client }, rounds) {
  const store = redisStore(client)
  const ways = {
    'SET NX PX': () => client.set(`ackhook:${nextKey()}`, 'token', 'PX', 60_000, 'NX'),
    'redisStore claim': () => store.claim(nextKey(), 'token', { leaseMs: 60_000 }),
  }
  const rows = []
  for (const inFlight of [1, 64, 256]) {
    const samples = await interleave(Object.keys(ways), {
      rounds: rounds + 1,
      measure: name => keepInFlight(ways[name], { inFlight, ms: 400 }),
    })
    const [bare, ours] = Object.keys(ways).map(name => samples.get(name).slice(1))
    const of = (list, field) => list.map(sample => sample[field])
    rows.push([
      inFlight,
      showNumber(median(of(bare, 'perSecond'))),
      showNumber(median(of(ours, 'perSecond'))),
      showRatio(ratio(of(ours, 'perSecond'), of(bare, 'perSecond'))),
      showNumber(median(of(bare, 'p99Ms'))),
      showNumber(median(of(ours, 'p99Ms'))),
    ])
    await client.flushall()
  }
  return table(['in flight', 'SET NX PX /s', 'claims/s', 'ratio', 'p99 ms bare', 'p99 ms claim'], rows)
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
  return `Redis memory a remembered id, at ${count.toLocaleString('en-GB')} ids: ${bytes} bytes.`
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
  const rows = variants.map(variant => {
    const speeds = list => list.map(sample => sample.perSecond)
    const own = samples.get(variant)
    return [
      variant === 'ackhook' ? 'memoryStore' : 'redisStore',
      showNumber(median(speeds(own))),
      showRatio(ratio(speeds(own), speeds(samples.get('ackhook')))),
      showNumber(median(own.map(sample => sample.p99Ms))),
    ]
  })
  return `Over HTTP, \`node:http\`, 2 KB, 64 connections:\n\n${table(['', 'requests/s', 'ratio', 'p99 ms'], rows)}`
}
