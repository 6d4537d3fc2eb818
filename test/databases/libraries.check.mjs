import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { storeSuite } from '@ackhook/conformance/store'
import { ConfigurationError } from '@ackhook/core'
import { newest, onceIn, sqlEffects, sqlStore } from '@ackhook/sql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TESTED } from '../../packages/sql/src/database/tested.ts'
import { onMariadb, onPostgres, onSqlite } from '../../packages/sql/test/databases.ts'
import { contextOf, insertOf } from '../../packages/sql/test/handling.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'
import { CAMEL_CASE, DESCRIBED, ON_MYSQL, ON_POSTGRES, ON_SQLITE } from './libraries.mjs'

const context = contextOf()
/** Options of a library's own transaction call, and what the database or the library then says of the handler below. */
const OWN_OPTIONS = {
  Prisma: [{ timeout: 200 }, /P2028/],
  Drizzle: [{ accessMode: 'read only' }, /25006/],
}
let count = 0
const event = () => ({ id: `evt_${++count}` })
/** Cases of the suite that a single library cannot pass or fail differently from its driver, or that take seconds. */
const LONG = ['store.claim.race', 'store.time.exact', 'store.claim.lapse']

it('tests the oldest and the newest version of each optional peer', () => {
  const readJson = path => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
  const { peerDependencies } = readJson('../../packages/sql/package.json')
  const { dependencies } = readJson('package.json')
  const ranges = Object.entries(peerDependencies).filter(([name]) => !name.startsWith('@ackhook/'))
  for (const [name, range] of ranges) {
    const oldest = dependencies[`${name}-old`].split('@').at(-1)
    const major = Number(dependencies[name].split('.')[0])
    expect([name, TESTED[name]]).toEqual([name, dependencies[name].replace(/\.\d+$/, '')])
    expect([name, range]).toEqual([name, major === 0 ? `>=${oldest} <1.0.0` : `^${oldest}`])
  }
})

describe.each([
  ['PostgreSQL', onPostgres, { ...ON_POSTGRES, ...DESCRIBED }],
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
      expect(ran.filter(result => result === 'ran')).toHaveLength(1)
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
      expect(await handler(one, context)).toBe('ran')
      expect(await handler(one, context)).toBe('done')
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
      expect(await sqlEffects(library.db).once('swallows', () => {})(one, context)).toBe('ran')
    })

    const outlives = server !== 'SQLite'
    it.runIf(outlives)('outlives the loss of its connection in a handler', async () => {
      const end =
        server === 'MariaDB' ? 'KILL CONNECTION_ID()' : 'SELECT pg_terminate_backend(pg_backend_pid())'
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
      await vi.waitFor(async () => expect(await handler(one, context)).toBe('ran'))
      expect(await effectsOf(one.id)).toBe(1)
      await own.close()
    })

    it.runIf(outlives)(
      'keeps nothing of a handler that goes on after the loss of its connection',
      async () => {
        const end =
          server === 'MariaDB' ? 'KILL CONNECTION_ID()' : 'SELECT pg_terminate_backend(pg_backend_pid())'
        const own = await connect(address)
        let loses = true
        const handler = sqlEffects(own.db).once('goes on', async ({ id }, tx) => {
          const run = async text => own.runIn(tx, text)
          await run(insertOf(id))
          if (!loses) return
          await run(end).catch(() => {})
          await sleep(100)
          await run(insertOf(id)).catch(() => {})
        })
        const one = event()
        await expect(handler(one, context)).rejects.toThrow()
        expect(await effectsOf(one.id)).toBe(0)
        loses = false
        await vi.waitFor(async () => expect(await handler(one, context)).toBe('ran'))
        expect(await effectsOf(one.id)).toBe(1)
        await own.close()
      },
    )

    it.runIf(server !== 'SQLite').each(['read committed', 'repeatable read', 'serializable'])(
      'opens transactions of the level %s',
      async isolation => {
        const level =
          server === 'PostgreSQL'
            ? "current_setting('transaction_isolation')"
            : '(SELECT trx_isolation_level FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = CONNECTION_ID())'
        const one = event()
        await sqlEffects(library.db, { isolation }).once('level', async ({ id }, tx) => {
          // MariaDB answers from a cache until nobody has asked for 100 ms, and so perhaps for an earlier transaction.
          for (let i = 0; i < 2; i++) {
            await library.runIn(tx, `INSERT INTO effects VALUES ('${id}', ${level})`)
            if (server === 'MariaDB') await sleep(150)
          }
        })(one, contextOf())
        const rows = await outside.query(`SELECT worker FROM effects WHERE event = '${one.id}'`)
        expect(rows.map(({ worker }) => worker?.toLowerCase())).toContain(isolation)
      },
    )

    it.runIf(server === 'PostgreSQL')(
      'passes the options of its own transaction call, or refuses any',
      async () => {
        const [transaction, refusal] = OWN_OPTIONS[name.split(' ')[0]] ?? []
        if (transaction === undefined) {
          expect(() => sqlEffects(library.db, { transaction: {} })).toThrow(ConfigurationError)
          return
        }
        const handler = sqlEffects(library.db, { transaction }).once('own options', async ({ id }, tx) => {
          await sleep(500)
          await library.runIn(tx, insertOf(id))
        })
        const failure = await handler(event(), contextOf()).catch(error => error)
        expect(inspect(failure, { depth: 5 })).toMatch(refusal)
      },
    )

    it.runIf(/^Prisma/.test(name))('has the time of handlerTimeout, and no more', async () => {
      const one = event()
      // Beyond the 5 seconds of Prisma itself.
      const slow = sqlEffects(library.db).once('slow', async ({ id }, tx) => {
        await library.runIn(tx, insertOf(id))
        await sleep(6000)
      })
      expect(await slow(one, contextOf())).toBe('ran')
      let end
      const ended = new Promise(resolve => {
        end = resolve
      })
      const attempt = new AbortController()
      const late = sqlEffects(library.db).once('late', async ({ id }, tx) => {
        await library.runIn(tx, insertOf(id))
        attempt.abort(new Error('timed out'))
        await ended
        await library.runIn(tx, insertOf(id))
      })
      const two = event()
      let isSettled = false
      const handling = late(two, contextOf(attempt.signal)).finally(() => {
        isSettled = true
      })
      const failed = expect(handling).rejects.toThrow()
      await vi.waitFor(() => expect(attempt.signal.aborted).toBe(true))
      // Its connection is free before the handler has ended, and its turn after that.
      await vi.waitFor(async () => {
        expect(await sqlEffects(library.db, { wait: '0ms' }).once('late', () => {})(two, contextOf())).toBe(
          'ran',
        )
      })
      expect(isSettled).toBe(false)
      end()
      await failed
      expect([await effectsOf(one.id), await effectsOf(two.id)]).toEqual([1, 0])
    })

    it('keeps no connection for a handler whose own error looks like a lost one', async () => {
      // As of `fetch`, or of another database.
      const codes = ['ECONNRESET', 'CONNECTION_CLOSED', '57P01', 'PROTOCOL_CONNECTION_LOST']
      const own = await connect(address)
      for (let i = 0; i < 12; i++) {
        const handler = sqlEffects(own.db).once('looks lost', async ({ id }, tx) => {
          await own.runIn(tx, insertOf(id))
          throw Object.assign(new Error('of another service'), { code: codes[i % codes.length] })
        })
        const one = event()
        await expect(handler(one, contextOf())).rejects.toThrow('of another service')
        expect(await effectsOf(one.id)).toBe(0)
      }
      expect(await sqlEffects(own.db).once('after it', () => {})(event(), contextOf())).toBe('ran')
      await own.close()
    })

    it.runIf(server === 'PostgreSQL' && outlives)(
      'outlives the loss of its connection in COMMIT',
      async () => {
        await outside.query(`CREATE TABLE IF NOT EXISTS slow (id text);
        CREATE OR REPLACE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`)
        const own = await connect(address)
        const handler = sqlEffects(own.db).once('commits slowly', async ({ id }, tx) => {
          await own.runIn(tx, insertOf(id))
          await own.runIn(tx, "INSERT INTO slow VALUES ('a')")
        })
        const one = event()
        const failed = expect(handler(one, context)).rejects.toThrow()
        await vi.waitFor(async () => {
          const ended = await outside.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query ~* '(^|; )commit' AND pid <> pg_backend_pid()",
          )
          expect(ended).toHaveLength(1)
        })
        await failed
        expect(await effectsOf(one.id)).toBe(0)
        await own.close()
      },
    )

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
        expect([id, await handler({ id }, context)]).toEqual([id, 'ran'])
        expect([id, await handler({ id }, context)]).toEqual([id, 'done'])
      }
    })

    it('works in a transaction of the application, and refuses everything else', async () => {
      const one = event()
      const state = { entity: one.id, at: '2026-01-01' }
      await expect(onceIn(library.db, 'app', one, context, () => {})).rejects.toThrow(ConfigurationError)
      await expect(newest(library.db, state)).rejects.toThrow(ConfigurationError)
      // Drizzle on better-sqlite3 has no transaction that can wait, and a description knows no transaction but its own.
      if (library.db.resultKind === 'sync' || library.isDescribed) return
      const results = []
      await library
        .within(async tx => {
          expect(() => sqlEffects(tx)).toThrow(ConfigurationError)
          results.push(await onceIn(tx, 'app', one, context, () => {}), await newest(tx, state))
        })
        .catch(error => {
          // A SQLite connection is its own transaction.
          if (server !== 'SQLite') throw error
        })
      if (server !== 'SQLite') expect(results).toEqual(['ran', true])
    })

    it.runIf(server !== 'SQLite')('refuses a transaction that has ended, and writes nothing', async () => {
      let ended
      await library.within(async tx => {
        ended = tx
      })
      const one = event()
      await expect(onceIn(ended, 'ended', one, context, () => {})).rejects.toThrow()
      await expect(newest(ended, { entity: one.id, at: '2026-01-01' })).rejects.toThrow()
      const [marks] = await outside.query(
        `SELECT count(*) AS n FROM ackhook_marks WHERE event_id = '${one.id}'`,
      )
      expect(Number(marks.n)).toBe(0)
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

describe('names of columns that a plugin changes', () => {
  let databases
  beforeAll(async () => {
    databases = await onPostgres()
  })
  afterAll(() => databases.stop())

  it.each(['Kysely on pg, camel case'])('%s tells how long a claim is held', async name => {
    const library = await CAMEL_CASE[name](await databases.create())
    const store = sqlStore(library.db)
    await store.claim('key', 'a', { leaseMs: 10_000, fingerprint: 1 })
    const claim = await store.claim('key', 'b', { leaseMs: 10_000, fingerprint: 1 })
    expect(claim).toEqual({ outcome: 'in_flight', retryAfterMs: expect.any(Number) })
    expect(claim.retryAfterMs).toBeGreaterThan(0)
    await library.close()
  })
})

describe('behind PgBouncer in transaction mode', () => {
  let databases
  beforeAll(async () => {
    databases = await onPostgres()
  })
  afterAll(() => databases.stop())

  it.each(['pg, newest', 'Drizzle on pg, newest', 'Kysely on pg, newest', 'Prisma on pg'])(
    '%s keeps what it reports',
    async name => {
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
      expect(reported.length).toBeGreaterThan(50)
      await outside.close()
      await library.close()
      await bouncer.stop()
    },
  )
})
