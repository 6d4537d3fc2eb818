import { createServer, connect as dial, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigurationError } from '@ackhook/core'
import { sqlEffects, sqlStore } from '@ackhook/sql'
import { drizzle as onMysql2 } from 'drizzle-orm/mysql2'
import { drizzle as onPg } from 'drizzle-orm/node-postgres'
import type { Pool as MysqlPool, PoolConnection } from 'mysql2/promise'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../test/support/free-port.ts'
import { type Databases, mariadbPool, SERVERS } from './databases.ts'
import { contextOf, eventOf, insertOf } from './handling.ts'

let count = 0
const event = () => eventOf(`evt_${++count}`)
const NEVER = new Promise<never>(() => {})

/** Both servers with their driver, and with Drizzle over it. */
const LIBRARIES = [
  ['PostgreSQL', 'pg'],
  ['PostgreSQL', 'Drizzle'],
  ['MariaDB', 'mysql2'],
  ['MariaDB', 'Drizzle'],
] as const

const { PostgreSQL, MariaDB } = SERVERS
let servers: Readonly<Record<'PostgreSQL' | 'MariaDB', Databases>>
beforeAll(async () => {
  servers = { PostgreSQL: await PostgreSQL(), MariaDB: await MariaDB() }
})
afterAll(async () => {
  for (const server of Object.values(servers)) await server.stop()
})

describe.each(LIBRARIES)('on %s through %s', (name, library) => {
  /** An application with connections of its own, and another one beside it. */
  async function start(connections: number, address?: string) {
    const at = address ?? (await servers[name].create())
    const open = servers[name].open(at, connections)
    const drizzled = name === 'PostgreSQL' ? onPg(open.db as Pool) : onMysql2(open.db as MysqlPool)
    const run = async (tx: unknown, text: string): Promise<unknown> =>
      library === 'Drizzle'
        ? (tx as { execute(text: string): Promise<unknown> }).execute(text)
        : open.runIn(tx, text)
    const outside = servers[name].open(at, 2)
    return {
      db: library === 'Drizzle' ? drizzled : open.db,
      run,
      address: at,
      pool: open.db,
      outside,
      effects: async (id: string) =>
        (await outside.query(`SELECT event FROM effects WHERE event = '${id}'`)).length,
      async close() {
        await open.close()
        await outside.close()
      },
    }
  }
  const onPostgres = name === 'PostgreSQL'

  it.each([
    ['in JavaScript', undefined],
    ['in a statement', onPostgres ? 'SELECT pg_sleep(60)' : 'SELECT SLEEP(60)'],
  ])('ends the transaction of a handler that hangs %s, and its connection', async (_, statement) => {
    // Behind Drizzle, a connection of MySQL hears of its end when the statement is over.
    if (statement !== undefined && !onPostgres && library === 'Drizzle') return
    const app = await start(2)
    await app.outside.query("INSERT INTO effects VALUES ('row', '0')")
    const touch = "UPDATE effects SET worker = '1' WHERE event = 'row'"
    const attempt = new AbortController()
    const one = event()
    let goOn = () => {}
    const isEnded = new Promise<void>(resolve => {
      goOn = resolve
    })
    let late: Promise<unknown> = Promise.resolve()
    const { once } = sqlEffects(app.db)
    const hanging = once('hangs', async (_event, tx) => {
      if (attempt.signal.aborted) return

      await app.run(tx, touch)
      attempt.abort(new Error('timed out'))
      if (statement !== undefined) await app.run(tx, statement).catch(() => {})
      else await isEnded
      late = app.run(tx, insertOf(one.id)).catch(error => error)
      await NEVER
    })
    void hanging(one, contextOf(attempt.signal)).catch(() => {})
    await vi.waitFor(() => expect(attempt.signal.aborted).toBe(true))
    const began = performance.now()
    // The row is free, and so is a connection of the pool for each of two handlers.
    const others = [1, 2].map(n =>
      once(`other ${n}`, async (_event, tx) => app.run(tx, touch))(event(), contextOf()),
    )
    expect(await Promise.all(others)).toEqual(['ran', 'ran'])
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(await hanging(one, contextOf())).toBe('ran')
    goOn()
    await vi.waitFor(async () => expect(await late).toBeInstanceOf(Error), 20_000)
    expect(await app.effects(one.id)).toBe(0)
    await app.close()
  })

  it('works again after a failover, although the pool has connections to the former primary', async () => {
    const address = await servers[name].create()
    const admin = servers[name].open(address, 1)
    const database = new URL(address).pathname.slice(1)
    await admin.query(
      onPostgres
        ? `ALTER DATABASE ${database} SET default_transaction_read_only = on`
        : 'SET GLOBAL tx_read_only = ON',
    )
    const app = await start(4, address)
    // All of them are connected before, and stay read-only.
    const clients = await Promise.all(
      [1, 2, 3, 4].map(() =>
        onPostgres ? (app.pool as Pool).connect() : (app.pool as MysqlPool).getConnection(),
      ),
    )
    for (const client of clients) client.release()
    const back = servers[name].open(address.replace(database, onPostgres ? 'postgres' : database), 1)
    await back.query(
      onPostgres
        ? `ALTER DATABASE ${database} RESET default_transaction_read_only`
        : 'SET GLOBAL tx_read_only = OFF',
    )
    const store = sqlStore(app.db, { timeout: '10s' })
    const handler = sqlEffects(app.db).once('after', ({ id }, tx) => app.run(tx, insertOf(id)))
    const claims: unknown[] = []
    const runs: unknown[] = []
    // As an inbox's retries and a sender's.
    for (let i = 0; i < 12; i++) {
      const claim = { leaseMs: 60_000, fingerprint: 1 }
      const claiming = Promise.resolve(store.claim(`key ${i}`, 'a', claim))
      claims.push(
        await claiming.then(
          ({ outcome }) => outcome,
          (error: unknown) => error,
        ),
      )
      runs.push(await handler(event(), contextOf()).catch(error => error))
      await sleep(20)
    }
    expect(claims.slice(-3)).toEqual(['claimed', 'claimed', 'claimed'])
    expect(runs.slice(-3)).toEqual(['ran', 'ran', 'ran'])
    await app.close()
    await admin.close()
    await back.close()
  })

  it('makes no more round trips than it says', async () => {
    const address = await servers[name].create()
    const { port } = new URL(address)
    const proxy = await countingProxy(Number(port))
    const app = await start(1, address.replace(`:${port}/`, `:${proxy.port}/`))
    const { once } = sqlEffects(app.db)
    const handler = once('counted', ({ id }, tx) => app.run(tx, insertOf(id)))
    // Prepares what a connection prepares once.
    for (let i = 0; i < 2; i++) await handler(event(), contextOf())
    const before = proxy.trips()
    expect(await handler(event(), contextOf())).toBe('ran')
    expect(proxy.trips() - before).toBe(library === 'pg' ? 3 : 5)
    await app.close()
    proxy.close()
  })
})

/** A proxy that counts how often the client speaks after the server. */
async function countingProxy(port: number) {
  let trips = 0
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const upstream = dial(port, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    let isAsking = false
    client.on('data', chunk => {
      if (!isAsking) trips++
      isAsking = true
      upstream.write(chunk)
    })
    upstream.on('data', chunk => {
      isAsking = false
      client.write(chunk)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  const own = await freePort()
  server.listen(own, '127.0.0.1')
  return {
    port: own,
    trips: () => trips,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

describe('a connection in use', () => {
  it('always has a listener, from the moment when the pool hands it over', async () => {
    const address = await servers.PostgreSQL.create()
    const pool = new Pool({ connectionString: address, max: 1 })
    const listeners: number[] = []
    const { once } = sqlEffects(pool)
    const handler = once('heard', () => {})
    pool.on('acquire', client => {
      const look = (): void => void listeners.push(client.listenerCount('error'))
      // After the pool has taken away its own, and before anyone who awaits the connection has it.
      process.nextTick(look)
    })
    for (let i = 0; i < 3; i++) await handler(event(), contextOf())
    expect(listeners).toHaveLength(3)
    expect(Math.min(...listeners)).toBeGreaterThan(0)
    await pool.end()
  })

  it('collects no listeners, event by event', async () => {
    const pool = mariadbPool(await servers.MariaDB.create(), 1)
    const { once } = sqlEffects(onMysql2(pool))
    const handler = once('heard', () => {})
    const listeners = async (): Promise<number> => {
      const connection = (await pool.getConnection()) as PoolConnection & { connection: NodeJS.EventEmitter }
      connection.release()
      return connection.connection.listenerCount('error')
    }
    await handler(event(), contextOf())
    const before = await listeners()
    for (let i = 0; i < 20; i++) await handler(event(), contextOf())
    expect(await listeners()).toBe(before)
    await pool.end()
  })
})

it('gives up a library that brings no connection, without its work', async () => {
  vi.useFakeTimers()
  let begins = () => {}
  let hasBegun = false
  const db = {
    dialect: 'postgres' as const,
    query: async () => ({ rows: [], affected: 0 }),
    transaction: async <R>(work: (tx: object) => Promise<R>): Promise<R> => {
      await new Promise<void>(resolve => {
        begins = resolve
      })
      return work({})
    },
  }
  const handler = sqlEffects(db).once('waits', () => {
    hasBegun = true
  })
  const failing = expect(handler(event(), contextOf())).rejects.toMatchObject({ code: 'effect_busy' })
  await vi.advanceTimersByTimeAsync(10_000)
  await failing
  begins()
  await vi.advanceTimersByTimeAsync(1000)
  expect(hasBegun).toBe(false)
  vi.useRealTimers()
})

it('refuses postgres.js with what to use instead', () => {
  const sql = Object.assign(() => {}, { unsafe() {}, begin() {}, options: { parsers: {}, serializers: {} } })
  expect(() => sqlEffects(sql)).toThrow(ConfigurationError)
  expect(() => sqlEffects(sql)).toThrow('pass a pg Pool')
})
