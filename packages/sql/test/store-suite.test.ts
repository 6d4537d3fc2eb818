import { setTimeout } from 'node:timers/promises'
import { storeSuite } from '@ackhook/conformance/store'
import { ddl, sqlStore } from '@ackhook/sql'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startHoldingProxy } from '../../../test/support/holding-proxy.ts'
import { itUnlessLong } from '../../../test/support/in-full.ts'
import { type Databases, openSqlite, SERVERS } from './databases.ts'

/** Refuses the first three undos. No rollback takes back what a sequence has counted. */
const REFUSE_UNDOS = [
  'CREATE SEQUENCE undo_tries',
  `CREATE FUNCTION refuse_undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.token IS NULL AND nextval('undo_tries') <= 3 THEN RAISE EXCEPTION 'refused'; END IF;
    RETURN NEW;
  END $$`,
  'CREATE TRIGGER refuse_undo BEFORE UPDATE ON ackhook_ids FOR EACH ROW EXECUTE FUNCTION refuse_undo()',
]

describe.each(Object.entries(SERVERS))('sqlStore on %s', (name, start) => {
  let databases: Databases
  let address: string
  let count = 0
  beforeAll(async () => {
    databases = await start()
    address = await databases.create()
  })
  afterAll(() => databases.stop())

  function open(at: string, timeout: '300ms' | '10s' = '10s') {
    const [one, other] = [databases.open(at), databases.open(at)] as const
    const prefix = `suite${count++}:`
    return {
      first: sqlStore(one.db, { prefix, timeout }),
      second: sqlStore(other.db, { prefix, timeout }),
      query: one.query,
      prefix,
      async close() {
        await one.close()
        await other.close()
      },
    }
  }

  const cases = storeSuite({
    open: () => open(address),
    async openFailing() {
      if (name === 'SQLite') {
        const blocker = openSqlite(address)
        const target = open(address, '300ms')
        return {
          ...target,
          fail: isFailing => blocker.exec(isFailing ? 'BEGIN IMMEDIATE' : 'ROLLBACK'),
          async close() {
            blocker.close()
            await target.close()
          },
        }
      }
      const { hostname, port } = new URL(address)
      const proxy = await startHoldingProxy(Number(port))
      const target = open(address.replace(`${hostname}:${port}`, `127.0.0.1:${proxy.port}`), '300ms')
      return {
        ...target,
        fail: isFailing => (isFailing ? proxy.holdAfter(0) : proxy.release()),
        async close() {
          await target.close()
          await proxy.stop()
        },
      }
    },
    openCounted() {
      const target = open(address)
      return {
        ...target,
        async count() {
          const [row] = await target.query(
            `SELECT count(*) AS n FROM ackhook_ids WHERE event_key LIKE '${target.prefix}%'`,
          )
          return Number(row?.['n'])
        },
      }
    },
  })
  for (const { id, name: title, run } of cases)
    itUnlessLong(id, ['store.time.exact'])(`${title} (${id})`, run)

  test.runIf(name === 'SQLite')('takes no part in a transaction that the application has open', async () => {
    const { db, close } = databases.open(address)
    const store = sqlStore(db)
    const connection = db as ReturnType<typeof openSqlite>
    connection.exec('BEGIN')
    await expect(store.claim('taken', 'a', { leaseMs: 1000, fingerprint: 1 })).rejects.toThrow(
      'a connection of its own',
    )
    connection.exec('ROLLBACK')
    expect(await store.claim('taken', 'a', { leaseMs: 1000, fingerprint: 1 })).toMatchObject({
      outcome: 'claimed',
    })
    await close()
  })

  test.runIf(name === 'SQLite')(
    'waits for a writer in another process as long as a call may take',
    async () => {
      const blocker = openSqlite(address)
      blocker.exec('BEGIN IMMEDIATE')
      const { first, close } = open(address)
      const claiming = first.claim('waits', 'a', { leaseMs: 10_000, fingerprint: 1 })
      // Longer than the repetitions of a statement that an isolation level refused.
      await setTimeout(1000)
      blocker.exec('COMMIT')
      expect(await claiming).toMatchObject({ outcome: 'claimed' })
      blocker.close()
      await close()
    },
  )

  test.runIf(name === 'PostgreSQL')(
    'undoes a claim that is made after its caller was told of a failure, although the first undos fail too',
    async () => {
      const own = await databases.create()
      const direct = databases.open(own)
      for (const text of REFUSE_UNDOS) await direct.query(text)
      const { hostname, port } = new URL(own)
      const proxy = await startHoldingProxy(Number(port))
      const { first, prefix, close } = open(
        own.replace(`${hostname}:${port}`, `127.0.0.1:${proxy.port}`),
        '300ms',
      )
      const lease = { leaseMs: 60_000, fingerprint: 1 }
      await first.claim('before', 'mine', lease)
      proxy.holdAfter(0)
      await expect(first.claim('late', 'mine', lease)).rejects.toThrow('sqlStore.claim')
      proxy.release()
      const keyed = `SELECT token FROM ackhook_ids WHERE event_key = '${prefix}late'`
      await vi.waitFor(async () => expect(await direct.query(keyed)).toEqual([{ token: null }]), 20_000)
      const [tries] = await direct.query('SELECT last_value FROM undo_tries')
      expect(Number(tries?.['last_value'])).toBeGreaterThan(3)
      const other = sqlStore(direct.db, { prefix })
      expect(await other.claim('late', 'theirs', lease)).toMatchObject({ outcome: 'claimed' })
      await direct.close()
      await close()
      await proxy.stop()
    },
  )

  test('runs every case but those of a limited store', () => {
    expect([...new Set(cases.notRun.map(one => one.missing))]).toEqual(['openSmall'])
  })
})

describe('sqlStore on PGlite', () => {
  let pglite: PGlite
  let count = 0
  beforeAll(async () => {
    pglite = await PGlite.create()
    await pglite.exec(ddl('postgres'))
  })
  afterAll(() => pglite.close())

  const cases = storeSuite({
    open() {
      const options = { prefix: `suite${count++}:`, timeout: '10s' } as const
      return { first: sqlStore(pglite, options), second: sqlStore(pglite, options) }
    },
  })
  // One connection in WebAssembly: of its own, only what differs from the server is interesting.
  const long = ['store.time.exact', 'store.claim.race']
  for (const { id, name, run } of cases) itUnlessLong(id, long)(`${name} (${id})`, run)
})
