import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { compareRounds, inTurns } from '../../lib/comparison.mjs'
import { eventBody } from '../../lib/event-body.mjs'
import { percentile } from '../../lib/percentile.mjs'
import { Sender } from '../../lib/sender.mjs'
import { startServer } from '../../lib/server.mjs'
import { showDecided, showNumber, table } from '../../lib/table.mjs'

const MEMORY = 'ackhook'
const SQLITE = 'ackhook, sqlite'
const VARIANTS = [MEMORY, SQLITE, 'ackhook, bullmq', 'ackhook, bullmq on postgres']
const CONNECTIONS = 64
const HEAD = ['', 'requests/s', '÷ memory', 'p99 ms', 'event loop p99 ms']

/** Measures the cost of persistence for a whole receiver, with its events handled at the same time. */
export async function measureOverHttp({ folder, redis, postgres, quick }) {
  const env = {
    BENCH_SQLITE_PATH: join(folder, 'http.db'),
    BENCH_REDIS_URL: redis.url,
    BENCH_POSTGRES_URL: postgres.url,
  }
  const servers = new Map()
  for (const variant of VARIANTS) {
    const server = await startServer('node-http', variant, { env })
    const sender = await Sender.open({ port: server.port, body: eventBody(2000), connections: CONNECTIONS })
    servers.set(variant, { server, sender })
  }
  const measure = async (variant, seconds) => {
    const { server, sender } = servers.get(variant)
    await server.ask('reset')
    const { perSecond, latencies } = await sender.load(seconds)
    const { loopP99Ms } = await server.ask('state')
    await atRest(server)
    return { perSecond, p99Ms: percentile(latencies, 0.99), loopP99Ms }
  }
  for (const variant of VARIANTS) await measure(variant, 1)
  const found = await compareRounds(
    inTurns(VARIANTS, variant => measure(variant, 0.4)),
    { quick, ...{ fewest: 6, most: 40, seconds: 120 }, decides: [['perSecond', SQLITE, MEMORY]] },
  )
  for (const { server, sender } of servers.values()) {
    sender.close()
    await server.stop()
  }
  const speedOf = variant => found.ratioOf('perSecond', variant, MEMORY)
  const rows = VARIANTS.map(variant => {
    const middle = field => showNumber(found.middleOf(field, variant))
    const name = variant === MEMORY ? 'ackhook, memory' : variant
    const speed = variant === MEMORY ? '1' : showDecided(speedOf(variant))
    return [name, middle('perSecond'), speed, middle('p99Ms'), middle('loopP99Ms')]
  })
  return {
    markdown: `### Over HTTP\n\n\`node:http\`, 2 KB, ${CONNECTIONS} connections, events handled at the same time.\n\n${table(HEAD, rows)}`,
    figures: {
      sqlite: speedOf(SQLITE),
      sqliteP99Ms: found.intervalOf('p99Ms', SQLITE),
      bullmq: speedOf('ackhook, bullmq'),
      bullmqOnPostgres: speedOf('ackhook, bullmq on postgres'),
    },
  }
}

/** Waits until a variant has finished its events, so that it does not slow the next one. */
async function atRest(server) {
  const handled = async () => (await server.ask('state')).handled
  for (let before = -1, now = await handled(); now !== before; now = await handled()) {
    before = now
    await setTimeout(100)
  }
}
