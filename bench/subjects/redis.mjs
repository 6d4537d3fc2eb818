import { redisStore } from '@ackhook/redis'
import { compareRounds, inTurns } from '../lib/comparison.mjs'
import { startRedis } from '../lib/engines.mjs'
import { percentile } from '../lib/interval.mjs'
import { showDecided, showNumber, table } from '../lib/table.mjs'

const BARE = 'SET NX PX'
const CLAIM = 'redisStore claim'
/** Short, so that other load on the machine slows both contenders of a round. */
const SAMPLE_MS = 100

/** Compares the Redis store's claims with a bare `SET NX PX` by the same client. */
export async function measureRedis({ quick }) {
  const redis = await startRedis()
  try {
    const alone = await claims(redis, quick)
    const memory = await bytesPerId(redis)
    return {
      markdown: [
        '## Redis',
        `Redis ${redis.version} on the same machine, ioredis. CPU: processor time of client and server together per claim, as a ratio to the bare command. Other load on the machine affects it less than a rate.`,
        alone.markdown,
        memory.markdown,
      ].join('\n\n'),
      figures: { claims: alone.figures, bytes: memory.bytes },
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
    [BARE]: () => client.set(`ackhook2${nextKey()}`, 'token', 'PX', 60_000, 'NX'),
    [CLAIM]: () => store.claim(nextKey(), 'token', { leaseMs: 60_000, fingerprint: 1 }),
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

async function bytesPerId({ client, usedBytes }) {
  const store = redisStore(client)
  const before = await usedBytes()
  const count = 100_000
  for (let from = 0; from < count; from += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, async () => {
        const key = nextKey()
        await store.claim(key, 'token', { leaseMs: 60_000, fingerprint: 1 })
        await store.complete(key, 'token', { retentionMs: 604_800_000, fingerprint: 1234 })
      }),
    )
  }
  const bytes = Math.round(((await usedBytes()) - before) / count)
  await client.flushall()
  return {
    bytes,
    markdown: `Redis memory per remembered id, at ${count.toLocaleString('en-GB')} ids: ${bytes} bytes.`,
  }
}

/** Keeps `inFlight` calls of `work` running for `ms`. */
async function keepInFlight(work, { inFlight, ms }) {
  const latencies = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  const lane = async () => {
    for (let began = performance.now(); began < start + ms; ) {
      await work()
      const now = performance.now()
      latencies.push(now - began)
      began = now
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  const calls = latencies.length
  return {
    ...{ calls, perSecond: calls / seconds, cpuUs: (user + system) / calls },
    p99Ms: percentile(latencies, 0.99),
  }
}
