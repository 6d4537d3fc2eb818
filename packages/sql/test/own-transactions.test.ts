import { sqlEffects } from '@ackhook/sql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Databases, type OpenDatabase, SERVERS } from './databases.ts'
import { contextOf, eventOf, insertOf } from './handling.ts'

// A helper in the handler that begins or ends a transaction on `tx` itself, as those of an application do that is used to a
// connection. `main` and `helper` stand for the writes of the two.

const VARIANTS: Readonly<Record<string, readonly string[]>> = {
  'a transaction of its own': ['BEGIN', 'helper', 'COMMIT'],
  'a transaction of its own, by START TRANSACTION': ['START TRANSACTION', 'helper', 'COMMIT'],
  'a transaction that it rolls back': ['BEGIN', 'helper', 'ROLLBACK'],
  'a transaction that it leaves open': ['BEGIN', 'helper'],
  'two transactions': ['BEGIN', 'helper', 'COMMIT', 'BEGIN', 'helper', 'ROLLBACK'],
  'COMMIT alone': ['helper', 'COMMIT'],
  'COMMIT, and a write after it': ['COMMIT', 'helper'],
  'COMMIT and a transaction for what follows': ['COMMIT', 'BEGIN', 'helper'],
  'ROLLBACK alone': ['helper', 'ROLLBACK'],
  'ROLLBACK, and a write after it': ['ROLLBACK', 'helper'],
  'ROLLBACK and a transaction for what follows': ['ROLLBACK', 'BEGIN', 'helper'],
  'ROLLBACK, and a transaction that commits': ['ROLLBACK', 'BEGIN', 'helper', 'COMMIT'],
  'a savepoint that it rolls back to': ['SAVEPOINT own', 'helper', 'ROLLBACK TO SAVEPOINT own', 'helper'],
}
/** How the handler ends, once its statements are sent. */
const ENDS = ['resolves', 'throws'] as const

let count = 0

describe.each(Object.entries(SERVERS))('a handler with transactions of its own, on %s', (name, start) => {
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

  const END: Readonly<Record<string, string>> = {
    PostgreSQL: 'SELECT pg_terminate_backend(pg_backend_pid())',
    MariaDB: 'KILL CONNECTION_ID()',
  }
  const DDL =
    name === 'MariaDB' ? { 'a statement that commits': ['CREATE TABLE implied (id int)', 'helper'] } : {}
  const effectsOf = async (event: string): Promise<number> =>
    (await open.query(`SELECT event FROM effects WHERE event = '${event}'`)).length

  describe.each(Object.entries({ ...VARIANTS, ...DDL }))('%s', (_, steps) => {
    it.each(ENDS)('keeps what a handler that %s has reported, wherever its connection is lost', async end => {
      const cuts = END[name] === undefined ? [undefined] : [undefined, ...steps.keys()]
      for (const cut of cuts) {
        const id = `own_${++count}`
        let isFirst = true
        const handler = sqlEffects(open.db).once('own', async (_event, tx) => {
          await open.runIn(tx, insertOf(`${id} main`))
          if (!isFirst) {
            await open.runIn(tx, insertOf(`${id} helper`))
            return
          }
          isFirst = false
          for (const [i, step] of steps.entries()) {
            await open.runIn(tx, step === 'helper' ? insertOf(`${id} helper`) : step)
            if (i === cut) await open.runIn(tx, END[name]!)
          }
          if (end === 'throws') throw new Error('after it')
        })
        const first = await handler(eventOf(id), contextOf()).catch(error => error)
        if (end === 'throws') expect([cut, first]).toEqual([cut, expect.any(Error)])
        const last = first === 'ran' ? first : await handler(eventOf(id), contextOf())
        await open.query('DROP TABLE IF EXISTS implied')
        expect([cut, last]).toEqual([cut, 'ran'])
        expect([cut, await effectsOf(`${id} main`)]).not.toEqual([cut, 0])
        if (steps.at(-1) !== 'ROLLBACK' && first === 'ran')
          expect([cut, await effectsOf(`${id} helper`)]).not.toEqual([cut, 0])
        expect(await handler(eventOf(id), contextOf())).toBe('done')
      }
    })
  })
})
