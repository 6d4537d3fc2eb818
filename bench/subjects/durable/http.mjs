import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { eventBody } from '../../lib/event-body.mjs'
import { load } from '../../lib/load.mjs'
import { each, interleave, median, ratio, spread } from '../../lib/rounds.mjs'
import { startServer } from '../../lib/server.mjs'
import { showNumber, showRatio, table } from '../../lib/table.mjs'

const MEMORY = 'ackhook'
const VARIANTS = [MEMORY, 'ackhook, sqlite', 'ackhook, bullmq', 'ackhook, bullmq on postgres']
const CONNECTIONS = 64
const HEAD = ['', 'requests/s', '÷ memory', 'p99 ms', 'event loop p99 ms']

/** What persistence costs a whole receiver, with its events handled at the same time. */
export async function measureOverHttp({ folder, redis, postgres, rounds }) {
  const env = {
    BENCH_SQLITE_PATH: join(folder, 'http.db'),
    BENCH_REDIS_URL: redis.url,
    BENCH_POSTGRES_URL: postgres.url,
  }
  const servers = new Map()
  for (const variant of VARIANTS) servers.set(variant, await startServer('node-http', variant, { env }))
  const run = (variant, seconds) =>
    load({ port: servers.get(variant).port, body: eventBody(2000), connections: CONNECTIONS, seconds })
  for (const variant of VARIANTS) await run(variant, 2)
  const samples = await interleave(VARIANTS, {
    rounds,
    async measure(variant) {
      await servers.get(variant).ask('reset')
      const result = await run(variant, 1.2)
      const { loopP99Ms } = await servers.get(variant).ask('state')
      await atRest(servers.get(variant))
      return { ...result, loopP99Ms }
    },
  })
  for (const server of servers.values()) await server.stop()
  const speedOf = variant =>
    ratio(each(samples.get(variant), 'perSecond'), each(samples.get(MEMORY), 'perSecond'))
  const rows = VARIANTS.map(variant => {
    const middle = field => showNumber(median(each(samples.get(variant), field)))
    const name = variant === MEMORY ? 'ackhook, memory' : variant
    const speed = variant === MEMORY ? '1' : showRatio(speedOf(variant))
    return [name, middle('perSecond'), speed, middle('p99Ms'), middle('loopP99Ms')]
  })
  return {
    markdown: `### Over HTTP\n\n\`node:http\`, 2 KB, ${CONNECTIONS} connections, events handled at the same time.\n\n${table(HEAD, rows)}`,
    figures: {
      sqlite: speedOf('ackhook, sqlite'),
      sqliteP99Ms: spread(each(samples.get('ackhook, sqlite'), 'p99Ms')),
      bullmq: speedOf('ackhook, bullmq'),
      bullmqOnPostgres: speedOf('ackhook, bullmq on postgres'),
    },
  }
}

/** What a variant still works off must not slow the next one. */
async function atRest(server) {
  const handled = async () => (await server.ask('state')).handled
  for (let before = -1, now = await handled(); now !== before; now = await handled()) {
    before = now
    await setTimeout(100)
  }
}
