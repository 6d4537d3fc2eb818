import { setTimeout } from 'node:timers/promises'
import { AckhookError, ConfigurationError, type WebhookEvent } from '@ackhook/core'
import { newest, onceIn, sqlEffects } from '@ackhook/sql'
import { drizzle } from 'drizzle-orm/node-postgres'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Databases, type OpenDatabase, SERVERS } from './databases.ts'
import { contextOf, eventOf, insertOf } from './handling.ts'

const context = contextOf()
let events = 0
const early = '2026-01-01T00:00:00Z'
const late = '2026-01-02T00:00:00Z'
const event = () => eventOf(`evt_${++events}`)

describe.each(Object.entries(SERVERS))('once on %s', (name, start) => {
  let databases: Databases
  let open: OpenDatabase
  beforeAll(async () => {
    databases = await start()
    open = databases.open(await databases.create())
  })
  afterAll(async () => {
    await open.close()
    await databases.stop()
  })

  const effectsOf = async (id: string): Promise<number> => {
    const [row] = await open.query(`SELECT count(*) AS n FROM effects WHERE event = '${id}'`)
    return Number(row?.['n'])
  }
  const insert = (tx: unknown, id: string) => open.runIn(tx, insertOf(id))

  it('takes effect once, however many attempts run at the same time', async () => {
    const handler = sqlEffects(open.db).once('insert', ({ id }, tx) => insert(tx, id))
    const one = event()
    const ran = await Promise.all(Array.from({ length: 16 }, () => handler(one, context)))
    expect(ran.filter(result => result === 'ran')).toHaveLength(1)
    expect(await effectsOf(one.id)).toBe(1)
  })

  it('undoes the effect of a failed attempt, and the next attempt takes effect', async () => {
    let fails = true
    const handler = sqlEffects(open.db).once('insert', async ({ id }, tx) => {
      await insert(tx, id)
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

  it('undoes the effect, and the mark, of work that returns what nothing runs', async () => {
    const { once } = sqlEffects(open.db)
    const one = event()
    const handler = once('lazy', async ({ id }, tx) => {
      await insert(tx, id)
      return () => insert(tx, id)
    })
    for (let attempt = 0; attempt < 2; attempt++)
      await expect(handler(one, context)).rejects.toMatchObject({ code: 'handler_lazy' })
    expect(await effectsOf(one.id)).toBe(0)
    expect(() => once('generator', function* () {})).toThrow("'work': must not be a generator")
  })

  it('gives each handler and each namespace its own mark', async () => {
    const { once } = sqlEffects(open.db)
    const handlers = ['a', 'b', 'B', 'b '].map(handler => once(handler, ({ id }, tx) => insert(tx, id)))
    const one = event()
    for (const handler of handlers) expect(await handler(one, context)).toBe('ran')
    for (const handler of handlers) expect(await handler(one, context)).toBe('done')
    expect(await handlers[0]?.(one, contextOf(undefined, 'acme'))).toBe('ran')
    expect(await effectsOf(one.id)).toBe(5)
  })

  it('tells apart ids that differ in case, a blank, an accent or the 255th byte', async () => {
    const handler = sqlEffects(open.db).once('count', () => {})
    const long = 'x'.repeat(254)
    const ids = [
      'Id',
      'id',
      'id ',
      ' id',
      'íd',
      `${long}a`,
      `${long}b`,
      "'; DROP TABLE effects",
      '$1',
      '?',
      '%s',
      ':a',
      '\\',
    ]
    for (const id of ids) expect([id, await handler(eventOf(id), context)]).toEqual([id, 'ran'])
    for (const id of ids) expect([id, await handler(eventOf(id), context)]).toEqual([id, 'done'])
  })

  it.each([
    ['an id of 256 bytes', 'ü'.repeat(128)],
    ['an id with NUL', 'a\0b'],
    ['an id with half a character', '\ud800'],
  ])('refuses %s, and runs nothing', async (_, id) => {
    const handler = sqlEffects(open.db).once('refuse', () => {
      throw new Error('ran')
    })
    await expect(handler(eventOf(id), context)).rejects.toThrow(ConfigurationError)
  })

  it('does not record an attempt whose signal was aborted as done', async () => {
    const attempt = new AbortController()
    const handler = sqlEffects(open.db).once('late', async ({ id }, tx) => {
      await insert(tx, id)
      attempt.abort(new Error('timed out'))
    })
    const one = event()
    await expect(handler(one, contextOf(attempt.signal))).rejects.toThrow('timed out')
    expect(await effectsOf(one.id)).toBe(0)
    expect(await handler(one, context)).toBe('ran')
  })

  it('does not record an attempt as done that ended its transaction itself', async () => {
    const handler = sqlEffects(open.db).once('ends', async ({ id }, tx) => {
      await insert(tx, id)
      await open.runIn(tx, 'ROLLBACK')
    })
    const one = event()
    await expect(handler(one, context)).rejects.toThrow()
    expect(await effectsOf(one.id)).toBe(0)
    const [row] = await open.query(`SELECT count(*) AS n FROM ackhook_marks WHERE event_id = '${one.id}'`)
    expect(Number(row?.['n'])).toBe(0)
  })

  it('refuses once within once, which might wait for itself, and keeps nothing', async () => {
    const { once } = sqlEffects(open.db)
    const inner = once('inner', ({ id }, tx) => insert(tx, id))
    const outer = once('outer', async (one: WebhookEvent, tx) => {
      await insert(tx, one.id)
      await inner(one, context)
    })
    const one = event()
    await expect(outer(one, context)).rejects.toThrow('within a transaction')
    expect(await effectsOf(one.id)).toBe(0)
  })

  it('lets work that a handler leaves behind use once afterwards', async () => {
    const { once } = sqlEffects(open.db)
    const inner = once('inner', ({ id }, tx) => insert(tx, id))
    let ended = () => {}
    const end = new Promise<void>(resolve => {
      ended = resolve
    })
    let left: Promise<string> | undefined
    const one = event()
    await once('outer', () => {
      left = end.then(() => inner(one, context))
    })(event(), context)
    ended()
    expect(await left).toBe('ran')
  })

  it('forgets the marks of an event in one namespace', async () => {
    const { once, forget } = sqlEffects(open.db)
    const handlers = ['a', 'b'].map(handler => once(handler, ({ id }, tx) => insert(tx, id)))
    const one = event()
    for (const namespace of ['', 'acme'])
      for (const handler of handlers) await handler(one, contextOf(undefined, namespace))
    expect(await forget(one.id)).toBe(true)
    expect(await forget(one.id)).toBe(false)
    for (const handler of handlers) expect(await handler(one, context)).toBe('ran')
    for (const handler of handlers) expect(await handler(one, contextOf(undefined, 'acme'))).toBe('done')
  })

  it('runs the work of onceIn once, and sets no mark after work that ended the transaction', async () => {
    const one = event()
    const results: unknown[] = []
    const outer = (name: string, work: (tx: unknown) => unknown) =>
      sqlEffects(open.db).once(name, async (own, tx) => {
        results.push(await onceIn(tx as object, 'inner', own, context, () => work(tx)))
      })
    const ending = outer('ends', async tx => {
      await insert(tx, one.id)
      await open.runIn(tx, 'COMMIT')
      await open.runIn(tx, 'BEGIN')
    })
    await expect(ending(one, contextOf())).rejects.toMatchObject({ code: 'effect_rolled_back' })
    // What was committed in it is made again, and not lost.
    expect(await outer('first', tx => insert(tx, one.id))(one, contextOf())).toBe('ran')
    expect(await outer('second', tx => insert(tx, one.id))(one, contextOf())).toBe('ran')
    expect(results).toEqual(['ran', 'done'])
    expect(await effectsOf(one.id)).toBe(2)
  })

  it('refuses a name that is taken, and one that cannot be stored', () => {
    const { once } = sqlEffects(open.db)
    once('taken', () => {})
    for (const wrong of ['taken', '', 'x'.repeat(256), 'a\0', 5 as never])
      expect(() => once(wrong, () => {})).toThrow(ConfigurationError)
    expect(() => once('free', undefined as never)).toThrow(ConfigurationError)
  })

  it('refuses onceIn and newest outside of a transaction, and writes nothing', async () => {
    const one = event()
    const state = { entity: one.id, at: early }
    await expect(onceIn(open.db, 'outside', one, { namespace: '' }, () => {})).rejects.toThrow(
      ConfigurationError,
    )
    await expect(newest(open.db, state)).rejects.toThrow(ConfigurationError)
    let kept: object | undefined
    await sqlEffects(open.db).once('keeps', (_, tx) => {
      kept = tx as object
    })(event(), context)
    await expect(newest(kept as object, state)).rejects.toThrow()
    for (const table of ['ackhook_marks WHERE event_id', 'ackhook_states WHERE entity']) {
      const [row] = await open.query(`SELECT count(*) AS n FROM ${table} = '${one.id}'`)
      expect(Number(row?.['n'])).toBe(0)
    }
  })

  it('names the command if a table is missing', async () => {
    const bare = databases.open(await databases.create())
    await bare.query('DROP TABLE ackhook_marks')
    const handler = sqlEffects(bare.db).once('count', () => {})
    await expect(handler(event(), context)).rejects.toThrow(`npx ackhook sql ${open.dialect}`)
    await bare.close()
  })

  it.runIf(name === 'PostgreSQL')(
    'does not record a handler as done that swallowed an SQL error',
    async () => {
      const handler = sqlEffects(open.db).once('swallows', async ({ id }, tx) => {
        await insert(tx, id)
        await open.runIn(tx, 'SELECT nonsense').catch(() => {})
      })
      const one = event()
      const failure = await handler(one, context).catch(error => error)
      expect(failure).toBeInstanceOf(AckhookError)
      expect(failure).toMatchObject({ code: 'effect_rolled_back' })
      expect(await effectsOf(one.id)).toBe(0)
    },
  )

  it.runIf(name === 'MariaDB')(
    'does not record a handler as done that swallowed a deadlock, which has ended its transaction',
    async () => {
      const own = databases.open(await databases.create())
      await own.query("INSERT INTO effects VALUES ('one', '0'), ('two', '0')")
      await own.query('CREATE INDEX effects_event ON effects (event)')
      await own.query('CREATE TABLE kept (event varchar(255))')
      const touch = (tx: unknown, row: string) =>
        own.runIn(tx, `UPDATE effects SET worker = '1' WHERE event = '${row}'`)
      const swallowed: unknown[] = []
      let met = () => {}
      const both = new Promise<void>(resolve => {
        met = resolve
      })
      let arrived = 0
      const { once } = sqlEffects(own.db)
      const handlers = ['one', 'two'].map(first =>
        once(first, async ({ id }, tx) => {
          await own.runIn(tx, `INSERT INTO kept VALUES ('${id}')`)
          await touch(tx, first)
          if (++arrived === 2) met()
          await both
          if (arrived <= 2)
            await touch(tx, first === 'one' ? 'two' : 'one').catch(error => swallowed.push(error))
        }),
      )
      const one = event()
      const results = await Promise.allSettled(handlers.map(handler => handler(one, context)))
      expect(swallowed).toHaveLength(1)
      const kept = await own.query('SELECT event FROM kept')
      const done = results.filter(({ status }) => status === 'fulfilled')
      expect(kept).toHaveLength(done.length)
      const [marks] = await own.query('SELECT count(*) AS n FROM ackhook_marks')
      expect(Number(marks?.['n'])).toBe(done.length)
      await own.close()
    },
  )

  it.runIf(name !== 'MariaDB')(
    'does not record a handler as done whose COMMIT fails, and keeps no transaction open',
    async () => {
      await open.query('CREATE TABLE parents (id text PRIMARY KEY)')
      await open.query('CREATE TABLE children (parent text REFERENCES parents DEFERRABLE INITIALLY DEFERRED)')
      const { once } = sqlEffects(open.db)
      const handler = once('defers', async ({ id }, tx) => {
        await insert(tx, id)
        await open.runIn(tx, "INSERT INTO children VALUES ('none')")
      })
      const one = event()
      await expect(handler(one, context)).rejects.toThrow(/foreign key/i)
      expect(await effectsOf(one.id)).toBe(0)
      expect(await once('after it', ({ id }, tx) => insert(tx, id))(one, context)).toBe('ran')
    },
  )

  it.runIf(name === 'PostgreSQL')(
    'gives no connection back in a transaction that could not be rolled back',
    async () => {
      // Its statements time out in the client, and those that wait behind them are never sent.
      const db = new Pool({ connectionString: open.address, max: 1, query_timeout: 1000 })
      db.on('error', () => {})
      const { once } = sqlEffects(db)
      const first = once('hangs', async ({ id }, tx) => {
        await tx.query(insertOf(id))
        await tx.query('SELECT pg_sleep(5)')
      })
      const [one, two] = [event(), event()]
      await expect(first(one, context)).rejects.toThrow('timeout')
      const second = once('after it', ({ id }, tx) => tx.query(insertOf(id)))
      await vi.waitFor(async () => expect(await second(two, contextOf())).toBe('ran'))
      expect([await effectsOf(one.id), await effectsOf(two.id)]).toEqual([0, 1])
      await db.end()
    },
  )

  it.runIf(name === 'PostgreSQL')(
    'commits nothing of a transaction in which a library has given its connection back',
    async () => {
      const pool = new Pool({ connectionString: open.address, max: 1 })
      const [one, two] = [event(), event()]
      const client = await pool.connect()
      await client.query('BEGIN')
      await client.query(insertOf(one.id))
      client.release()
      const handler = sqlEffects(drizzle(pool)).once('after it', ({ id }, tx) => tx.execute(insertOf(id)))
      expect(await handler(two, contextOf())).toBe('ran')
      expect([await effectsOf(one.id), await effectsOf(two.id)]).toEqual([0, 1])
      await pool.end()
    },
  )

  it.runIf(name !== 'SQLite')(
    'ends an attempt that is aborted while it waits for a connection, and never begins its work',
    async () => {
      const small = databases.open(await databases.create(), 1)
      const { once } = sqlEffects(small.db)
      let release = () => {}
      const held = new Promise<void>(resolve => {
        release = resolve
      })
      const holding = once('holds', () => held)(event(), contextOf())
      const attempt = new AbortController()
      let hasBegun = false
      const late = once('late', () => {
        hasBegun = true
      })(event(), contextOf(attempt.signal))
      attempt.abort(new Error('timed out'))
      await expect(late).rejects.toThrow('timed out')
      release()
      await holding
      // The connection that comes late is given back.
      expect(await once('after', () => {})(event(), context)).toBe('ran')
      expect(hasBegun).toBe(false)
      await small.close()
    },
  )

  it("does not repeat a handler for an error that is not of this database's transaction", async () => {
    const others = [
      { code: '40001' },
      { code: 1213 },
      { errno: 1213 },
      { code: 'SQLITE_BUSY' },
      new Error('the remote database is locked for maintenance'),
    ]
    for (const other of others) {
      let runs = 0
      const handler = sqlEffects(open.db).once('of another database', async ({ id }, tx) => {
        await insert(tx, id)
        runs++
        throw other
      })
      await expect(handler(event(), contextOf())).rejects.toBe(other)
      expect(runs).toBe(1)
    }
  })

  it.runIf(name === 'SQLite')('waits for the file as long as for another transaction', async () => {
    const writer = databases.open(open.address)
    await writer.query('BEGIN IMMEDIATE')
    const handler = sqlEffects(open.db, { wait: '60s' }).once('waits', ({ id }, tx) => insert(tx, id))
    const handling = handler(event(), contextOf())
    // Longer than five repetitions take.
    await setTimeout(1000)
    await writer.query('COMMIT')
    expect(await handling).toBe('ran')
    await writer.close()
  })

  it('repeats a handler that failed after it had ended its transaction itself', async () => {
    // On MySQL, one of the statements that do so.
    const ends = name === 'MariaDB' ? 'CREATE TABLE ends_it (id int)' : 'COMMIT'
    let fails = true
    const handler = sqlEffects(open.db).once('commits', async ({ id }, tx) => {
      await insert(tx, id)
      if (!fails) return
      await open.runIn(tx, ends)
      throw new Error('after it')
    })
    const one = event()
    await expect(handler(one, context)).rejects.toThrow('after it')
    fails = false
    expect(await handler(one, context)).toBe('ran')
  })

  it('repeats such a handler although its mark could not be deleted at first', async () => {
    const ends = name === 'MariaDB' ? 'CREATE TABLE ends_it_too (id int)' : 'COMMIT'
    let isHidden = false
    const handler = sqlEffects(open.db).once('commits late', async ({ id }, tx) => {
      await insert(tx, id)
      if (isHidden) return
      await open.runIn(tx, ends)
      await open.query('ALTER TABLE ackhook_marks RENAME TO hidden_marks')
      isHidden = true
      throw new Error('after it')
    })
    const one = event()
    const failed = expect(handler(one, context)).rejects.toThrow('after it')
    await vi.waitFor(() => expect(isHidden).toBe(true))
    // Long enough for some refused deletions, as a rule.
    await setTimeout(200)
    await open.query('ALTER TABLE hidden_marks RENAME TO ackhook_marks')
    await failed
    expect(await handler(one, context)).toBe('ran')
  })

  it("leaves an error of the application's own SQL as it is", async () => {
    const handler = sqlEffects(open.db).once('misspelled', async (_, tx) => {
      await open.runIn(tx, 'SELECT * FROM conversatoins')
    })
    const failure = await handler(event(), context).catch(error => error)
    expect(String(failure)).toMatch(/conversatoins/)
    expect(failure).not.toBeInstanceOf(AckhookError)
  })

  it('refuses two handlers of one attempt with one name, from different objects over one pool', async () => {
    const handlers = [1, 2].map(() => sqlEffects(open.db).once('resolve', ({ id }, tx) => insert(tx, id)))
    const attempt = contextOf()
    const one = event()
    const results = await Promise.allSettled(handlers.map(handler => handler(one, attempt)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(results[1]).toMatchObject({ reason: { option: 'name' } })
  })

  it.runIf(name === 'SQLite')('refuses to forget in a handler, which would wait for itself', async () => {
    const { once, forget } = sqlEffects(open.db)
    const handler = once('forgets', async ({ id }) => {
      await forget(id)
    })
    await expect(handler(event(), context)).rejects.toThrow('within a transaction')
  })

  it.runIf(name === 'MariaDB')('tells ids apart on a connection with another character set', async () => {
    const db = createPool({ uri: open.address, charset: 'latin1' })
    const handler = sqlEffects(db).once('latin', () => {})
    for (const id of ['событие', 'явление']) expect(await handler(eventOf(id), context)).toBe('ran')
    expect(await handler(eventOf('событие'), context)).toBe('done')
    await db.end()
  })

  it.runIf(name !== 'SQLite')('repeats a handler whose transaction deadlocks with another', async () => {
    await open.query("INSERT INTO effects VALUES ('one', '0'), ('two', '0')")
    const { once } = sqlEffects(open.db)
    const touch = (tx: unknown, row: string) =>
      open.runIn(tx, `UPDATE effects SET worker = '1' WHERE event = '${row}'`)
    let runs = 0
    let both = () => {}
    const met = new Promise<void>(resolve => {
      both = resolve
    })
    const handlers = ['one', 'two'].map(first =>
      once(first, async (_, tx) => {
        await touch(tx, first)
        if (++runs === 2) both()
        await met
        await touch(tx, first === 'one' ? 'two' : 'one')
      }),
    )
    // InnoDB locks the rows that it scans.
    await open.query('CREATE INDEX effects_event ON effects (event)')
    const one = event()
    expect(await Promise.all(handlers.map(handler => handler(one, context)))).toEqual(['ran', 'ran'])
    expect(runs).toBeGreaterThan(2)
  })

  it.runIf(name !== 'SQLite')('holds no connection while another transaction handles the event', async () => {
    const two = databases.open(await databases.create(), 2)
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    let entered = () => {}
    const isIn = new Promise<void>(resolve => {
      entered = resolve
    })
    const { once } = sqlEffects(two.db, { wait: '60s' })
    const handler = once('holds', async () => {
      entered()
      await held
    })
    const quick = once('quick', () => {})
    const one = event()
    const first = handler(one, context)
    await isIn
    const waiting = Array.from({ length: 15 }, () => handler(one, contextOf()))
    // With a waiting transaction for each, the second connection of the pool would be taken too.
    for (let i = 0; i < 20; i++) expect(await quick(event(), context)).toBe('ran')
    release()
    expect(await first).toBe('ran')
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 15 }, () => 'done'))
    await two.close()
  })

  it.runIf(name !== 'SQLite')(
    'fails the attempt, to be retried, when another transaction keeps the event',
    async () => {
      let release = () => {}
      const held = new Promise<void>(resolve => {
        release = resolve
      })
      let entered = () => {}
      const isIn = new Promise<void>(resolve => {
        entered = resolve
      })
      const work = async () => {
        entered()
        await held
      }
      const one = event()
      const first = sqlEffects(open.db).once('kept', work)(one, context)
      await isIn
      const failure = await sqlEffects(open.db, { wait: '100ms' })
        .once('kept', work)(one, context)
        .catch(error => error)
      expect(failure).toMatchObject({ code: 'effect_busy' })
      release()
      expect(await first).toBe('ran')
    },
  )

  it.each(['read committed', 'repeatable read', 'serializable'] as const)(
    'lets one of 15 waiting attempts take effect when the first rolls back, under %s',
    async isolation => {
      const { once } = sqlEffects(open.db, { isolation, wait: '20s' })
      let isFirst = true
      const handler = once('rolls back', async ({ id }, tx) => {
        await insert(tx, id)
        if (!isFirst) return
        isFirst = false
        await new Promise(resolve => setImmediate(resolve))
        throw new Error('the first')
      })
      const one = event()
      const results = await Promise.allSettled(Array.from({ length: 16 }, () => handler(one, context)))
      const failed = results.filter(({ status }) => status === 'rejected')
      expect(failed).toEqual([{ status: 'rejected', reason: new Error('the first') }])
      expect(results.filter(one => one.status === 'fulfilled' && one.value === 'ran')).toHaveLength(1)
      expect(await effectsOf(one.id)).toBe(1)
    },
  )

  describe('newest', () => {
    it.each(['time', 'rank'] as const)(
      'ends at the same state in every order of arrival, by %s',
      async by => {
        const { once } = sqlEffects(open.db, { wait: '20s' })
        const states = ['a', 'b', 'c'].flatMap(eventId =>
          [1, 2].flatMap(rank =>
            ['00', '01'].map(second => ({ eventId, rank, at: `2026-01-01T00:00:${second}Z` })),
          ),
        )
        const last = '01 2 c'
        for (let round = 0; round < 3; round++) {
          const entity = `shuffled ${by} ${round}`
          const applied: string[] = []
          const order = states.map((_, i) => states[(i * [1, 5, 7][round]!) % states.length]!)
          const step = once(`state ${by} ${round}`, async (one: { id: string; index: number }, tx) => {
            const state = order[one.index]!
            const isNewest = await newest(tx as object, { entity, by, ...state })
            if (isNewest) applied.push(`${state.at.slice(17, 19)} ${state.rank} ${state.eventId}`)
          })
          await Promise.all(order.map((_, index) => step({ ...event(), index }, context)))
          expect(applied.at(-1)).toBe(last)
        }
      },
    )

    it('puts rank before time if asked, keeps scopes apart, and takes the same state twice', async () => {
      const record = sqlEffects(open.db).once('record', async (one: { id: string; state: object }, tx) => {
        results.push(await newest(tx as object, one.state as never))
      })
      const results: boolean[] = []
      const entity = `ranked ${name}`
      for (const state of [
        { entity, by: 'rank', rank: 2, at: early, eventId: 'delivered' },
        { entity, by: 'rank', rank: 1, at: late, eventId: 'sent' },
        { entity, by: 'rank', rank: 2, at: early, eventId: 'delivered' },
        { entity, scope: 'other', at: early },
        { entity, scope: 'other', at: '2026-01-01T00:00:00.000002Z' },
        { entity, scope: 'other', at: '2026-01-01T00:00:00.000001Z' },
      ])
        await record({ ...event(), state }, context)
      expect(results).toEqual([true, false, true, true, true, false])
    })

    it('is rolled back with the transaction', async () => {
      const entity = `undone ${name}`
      const { once } = sqlEffects(open.db)
      const failing = once('failing', async (_, tx) => {
        await newest(tx as object, { entity, at: late })
        throw new Error('after it')
      })
      await expect(failing(event(), context)).rejects.toThrow('after it')
      let older: boolean | undefined
      await once('older', async (_, tx) => {
        older = await newest(tx as object, { entity, at: early })
      })(event(), context)
      expect(older).toBe(true)
    })

    it.each([
      ['at', { entity: 'a', at: 'yesterday' }],
      ['at', { entity: 'a', at: undefined }],
      ['at', { entity: 'a', at: '2026-01-01T12:00:00' }],
      ['at', { entity: 'a', at: null }],
      ['at', { entity: 'a', at: 1_767_225_600 }],
      ['at', { entity: 'a', at: 1_767_225_600_000n }],
      ['at', { entity: 'a', at: true }],
      ['at', { entity: 'a', at: [2026] }],
      ['at', { entity: 'a', at: new Date('never') }],
      ['rank', { entity: 'a', at: early, rank: 1.5 }],
      ['by', { entity: 'a', at: early, by: 'size' }],
      ['entity', { entity: '', at: early }],
      ['entity', { entity: 'a\0', at: early }],
      ['scope', { entity: 'a', at: early, scope: 'x'.repeat(256) }],
      ['order', { entity: 'a', at: early, order: 1 }],
    ])('refuses a wrong %s', async (option, state) => {
      await expect(newest(open.db, state as never)).rejects.toThrow(`Option '${option}'`)
    })
  })
})
