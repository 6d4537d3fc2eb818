import { storeSuite } from '@ackhook/conformance/store'
import { ConfigurationError } from '@ackhook/core'
import { newest, onceIn, sqlEffects, sqlStore } from '@ackhook/sql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { onMariadb, onPostgres, onSqlite } from '../../packages/sql/test/databases.ts'
import { contextOf, insertOf } from '../../packages/sql/test/handling.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { ON_MYSQL, ON_POSTGRES, ON_SQLITE } from './libraries.mjs'

const context = contextOf()
let count = 0
const event = () => ({ id: `evt_${++count}` })
/** Cases of the suite that a single library cannot pass or fail differently from its driver, or that take seconds. */
const LONG = ['store.claim.race', 'store.time.exact', 'store.claim.lapse']

describe.each([
  ['PostgreSQL', onPostgres, ON_POSTGRES],
  ['MariaDB', onMariadb, ON_MYSQL],
  ['SQLite', onSqlite, ON_SQLITE],
])('on %s', (server, start, libraries) => {
  let databases
  beforeAll(async () => {
    databases = await start()
  })
  afterAll(() => databases.stop())

  describe.each(Object.entries(libraries))('%s', (name, connect) => {
    let library
    let outside
    let address
    beforeAll(async () => {
      address = await databases.create()
      library = await connect(address)
      outside = databases.open(address)
    })
    afterAll(async () => {
      await library?.close()
      await outside?.close()
    })
    const effectsOf = async id => {
      const [row] = await outside.query(`SELECT count(*) AS n FROM effects WHERE event = '${id}'`)
      return Number(row.n)
    }

    it('takes effect once, of 16 attempts at the same time', async () => {
      const handler = sqlEffects(library.db).once('parallel', ({ id }, tx) => library.runIn(tx, insertOf(id)))
      const one = event()
      const ran = await Promise.all(Array.from({ length: 16 }, () => handler(one, contextOf())))
      expect(ran.filter(Boolean)).toHaveLength(1)
      expect(await effectsOf(one.id)).toBe(1)
    })

    it('keeps nothing of a failed attempt, and repeats it', async () => {
      let fails = true
      const handler = sqlEffects(library.db).once('fails', async ({ id }, tx) => {
        await library.runIn(tx, insertOf(id))
        if (fails) throw new Error('after the effect')
      })
      const one = event()
      await expect(handler(one, context)).rejects.toThrow('after the effect')
      expect(await effectsOf(one.id)).toBe(0)
      fails = false
      expect(await handler(one, context)).toBe(true)
      expect(await handler(one, context)).toBe(false)
      expect(await effectsOf(one.id)).toBe(1)
    })

    it.runIf(server === 'PostgreSQL')('never reports a handler that swallowed an SQL error', async () => {
      const handler = sqlEffects(library.db).once('swallows', async ({ id }, tx) => {
        await library.runIn(tx, insertOf(id))
        await Promise.resolve(library.runIn(tx, 'SELECT nonsense')).catch(() => {})
      })
      const one = event()
      await expect(handler(one, context)).rejects.toThrow()
      expect(await effectsOf(one.id)).toBe(0)
      expect(await sqlEffects(library.db).once('swallows', () => {})(one, context)).toBe(true)
    })

    // postgres.js may not use a lost connection again, and a ROLLBACK in its `begin`, which Drizzle calls, throws where
    // nobody can catch it.
    const outlives = server !== 'SQLite' && !/postgres\.js/.test(name)
    it.runIf(outlives)('outlives the loss of its connection in a handler', async () => {
      const end =
        server === 'MariaDB' ? 'KILL CONNECTION_ID()' : 'SELECT pg_terminate_backend(pg_backend_pid())'
      // With connections of its own: postgres.js may report the loss to a later query as well.
      const own = await connect(address)
      let loses = true
      const handler = sqlEffects(own.db).once('loses', async ({ id }, tx) => {
        await own.runIn(tx, insertOf(id))
        if (loses) await own.runIn(tx, end)
      })
      const one = event()
      await expect(handler(one, context)).rejects.toThrow()
      expect(await effectsOf(one.id)).toBe(0)
      loses = false
      // As the inbox's retry.
      await vi.waitFor(async () => expect(await handler(one, context)).toBe(true))
      expect(await effectsOf(one.id)).toBe(1)
      await own.close()
    })

    it('ends at the newest state, in any order', async () => {
      const order = [3, 0, 5, 1, 4, 2]
      let last
      const { once } = sqlEffects(library.db, { wait: '20s' })
      const step = once('step', async ({ n }, tx) => {
        const at = `2026-01-01T00:00:0${n >> 1}Z`
        if (await newest(tx, { entity: 'a', at, rank: n & 1, eventId: String(n) })) last = n
      })
      await Promise.all(order.map(n => step({ ...event(), n }, contextOf())))
      expect(last).toBe(5)
    })

    it('takes ids with quotes and placeholders as they are', async () => {
      const handler = sqlEffects(library.db).once('ids', () => {})
      for (const id of ["'", '$1', '?', '%s', ':a', '\\', 'Id', 'id', 'id ', 'ü', 'x'.repeat(255)]) {
        expect([id, await handler({ id }, context)]).toEqual([id, true])
        expect([id, await handler({ id }, context)]).toEqual([id, false])
      }
    })

    it('works in a transaction of the application, and refuses everything else', async () => {
      const one = event()
      const state = { entity: one.id, at: 1 }
      await expect(onceIn(library.db, 'app', one, context)).rejects.toThrow(ConfigurationError)
      await expect(newest(library.db, state)).rejects.toThrow(ConfigurationError)
      // Drizzle on better-sqlite3 has no transaction that can wait.
      if (library.db.resultKind === 'sync') return
      const results = []
      await library
        .within(async tx => {
          expect(() => sqlEffects(tx)).toThrow(ConfigurationError)
          results.push(await onceIn(tx, 'app', one, context), await newest(tx, state))
        })
        .catch(error => {
          // A SQLite connection is its own transaction.
          if (server !== 'SQLite') throw error
        })
      if (server !== 'SQLite') expect(results).toEqual([true, true])
    })

    const cases = storeSuite({
      open() {
        const options = { prefix: `s${++count}:`, timeout: '10s' }
        return { first: sqlStore(library.db, options), second: sqlStore(library.db, options) }
      },
    })
    for (const { id, name: title, run } of cases) if (!LONG.includes(id)) it(`${title} (${id})`, run)
  })
})

describe('behind PgBouncer in transaction mode', () => {
  let databases
  beforeAll(async () => {
    databases = await onPostgres()
  })
  afterAll(() => databases.stop())

  it.each([
    'pg, newest',
    'postgres.js, newest',
    'Drizzle on pg, newest',
    'Drizzle on postgres.js',
    'Drizzle on postgres.js without prepare',
    'Kysely on pg, newest',
    'Prisma on pg',
  ])('%s keeps what it reports', async name => {
    const address = await databases.create()
    const bouncer = await startPgBouncer(
      { ...databases, url: address, port: Number(new URL(address).port) },
      'transaction',
    )
    const library = await ON_POSTGRES[name](bouncer.url)
    const handler = sqlEffects(library.db, { wait: '20s' }).once('bounced', ({ id }, tx) =>
      library.runIn(tx, insertOf(id)),
    )
    const events = Array.from({ length: 100 }, event)
    const results = await Promise.allSettled(events.map(one => handler(one, contextOf())))
    const reported = events.filter((_, i) => results[i].status === 'fulfilled').map(({ id }) => id)
    const outside = databases.open(address)
    const kept = (await outside.query('SELECT event FROM effects')).map(row => row.event)
    expect(kept.sort()).toEqual(reported.sort())
    // With prepared statements, Drizzle on postgres.js reports hardly any: it is right, and of no use.
    if (name !== 'Drizzle on postgres.js') expect(reported.length).toBeGreaterThan(50)
    await outside.close()
    await library.close()
    await bouncer.stop()
  })
})
