import { bullmqInbox } from '@ackhook/bullmq'
import type { Delivery, Inbox } from '@ackhook/core'
import type { PresenceDirectory, PublishedHandlers } from '@ackhook/core/spi'
import { Client, Pool } from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type PgBouncer, startPgBouncer } from '../../../test/support/pgbouncer.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { migrate } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function poolerOf(mode: 'session' | 'transaction'): Promise<PgBouncer> {
  const server = await startPostgres()
  closing.push(() => server.stop())
  await migrate(server.url)
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query('ALTER ROLE CURRENT_USER SET search_path = bullmq')
  await client.end()
  const pooler = await startPgBouncer(server, mode)
  closing.push(() => pooler.stop())
  return pooler
}

const own: PublishedHandlers = {
  id: 'one',
  process: 'host:1',
  version: '1.0.0',
  startedAt: 1,
  patterns: ['a.b'],
  onUnhandled: false,
  keepMs: 60_000,
}

function inboxBehind(pooler: PgBouncer, queue: string): Inbox {
  const pool = new Pool({ connectionString: pooler.url, max: 8 })
  pool.on('error', () => {})
  const inbox = bullmqInbox({ postgres: pool, queue })
  closing.push(() => inbox.close(1000).then(() => pool.end()))
  return inbox
}

test.each(['session', 'transaction'] as const)(
  'two processes behind PgBouncer in %s mode handle every event once, and every inbox function works',
  async mode => {
    const pooler = await poolerOf(mode)
    const queue = unique('q')
    const [first, second] = [inboxBehind(pooler, queue), inboxBehind(pooler, queue)]
    const work = scripted(COMPLETED)
    for (const [id, inbox] of Object.entries({ first, second })) {
      const share = async ({ board }: PresenceDirectory) => board.publish({ ...own, id })
      await inbox.start(work, aPolicy({ handlers: { published: own, share } }))
    }
    const deliveries = Array.from({ length: 200 }, () => aDelivery())
    for (const [i, delivery] of deliveries.entries())
      expect(await (i % 2 ? first : second).accept(delivery)).toEqual({ outcome: 'accepted' })
    await until(() => work.runs.length >= deliveries.length, 60_000)
    await until(async () => (await first.stats()).active === 0)
    expect(work.runs.map(({ delivery }) => delivery.key).sort()).toEqual(
      deliveries.map(({ key }) => key).sort(),
    )
    const [{ key }] = deliveries as [Delivery]
    expect(await second.accept(deliveries[0]!)).toEqual({ outcome: 'duplicate' })
    expect(await second.forget?.(key)).toBe(true)
    expect((await first.processes?.())?.map(({ id }) => id).sort()).toEqual(['first', 'second'])
    expect(await first.deadLetters.list()).toEqual([])
  },
)
