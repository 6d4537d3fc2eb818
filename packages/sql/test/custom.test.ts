import { ConfigurationError } from '@ackhook/core'
import { type CustomDatabase, newest, onceIn, sqlEffects, sqlStore } from '@ackhook/sql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Databases, onSqlite, openSqlite } from './databases.ts'
import { contextOf, eventOf } from './handling.ts'

// The open way in, as an application would write it for a library that the package does not know.

let databases: Databases
let file: ReturnType<typeof openSqlite>
beforeAll(async () => {
  databases = await onSqlite()
  file = openSqlite(await databases.create())
})
afterAll(async () => {
  file.close()
  await databases.stop()
})

interface Tx {
  run(text: string, params: readonly unknown[]): { rows: Record<string, unknown>[]; affected: number }
}

const tx: Tx = {
  run(text, params) {
    const rows = file.prepare(text).all(...params)
    return { rows, affected: Number(file.prepare('SELECT changes() AS n').all()[0]?.['n']) }
  },
}
const levels: unknown[] = []
const database: CustomDatabase<Tx> = {
  dialect: 'sqlite',
  query: async (text, params, own = tx) => own.run(text, params),
  async transaction(work, { isolation }) {
    levels.push(isolation)
    file.exec('BEGIN IMMEDIATE')
    try {
      // Each transaction is an object of its own, as in most libraries.
      const result = await work({ ...tx })
      file.exec('COMMIT')
      return result
    } catch (error) {
      file.exec('ROLLBACK')
      throw error
    }
  },
}
const countOf = (table: string): number =>
  Number(file.prepare(`SELECT count(*) AS n FROM ${table}`).all()[0]?.['n'])

it('takes effect once through a database that the user has described', async () => {
  const { once } = sqlEffects(database, { isolation: 'serializable' })
  let fails = true
  const results: unknown[] = []
  const handler = once('custom', async ({ id }, tx) => {
    tx.run('INSERT INTO effects (event) VALUES (?)', [id])
    results.push(
      await newest(tx, { entity: 'a', at: '2026-01-01' }),
      await onceIn(tx, 'inner', { id }, { namespace: '' }, () => {}),
    )
    if (fails) throw new Error('after the effect')
  })
  await expect(handler(eventOf('evt_1'), contextOf())).rejects.toThrow('after the effect')
  expect([countOf('effects'), countOf('ackhook_marks')]).toEqual([0, 0])
  fails = false
  expect(await handler(eventOf('evt_1'), contextOf())).toBe('ran')
  expect(await handler(eventOf('evt_1'), contextOf())).toBe('done')
  expect([countOf('effects'), countOf('ackhook_marks')]).toEqual([1, 2])
  expect(results).toEqual([true, 'ran', true, 'ran'])
  expect(new Set(levels)).toEqual(new Set(['serializable']))
})

it('shares ids through it', async () => {
  const store = sqlStore(database)
  expect(await store.claim('key', 'a', { leaseMs: 10_000, fingerprint: 1 })).toMatchObject({
    outcome: 'claimed',
  })
  expect(await store.claim('key', 'b', { leaseMs: 10_000, fingerprint: 1 })).toMatchObject({
    outcome: 'in_flight',
  })
  expect(await store.release('key', 'a')).toBe(true)
})

it('refuses the database itself, and a transaction that once has not given, and writes nothing', async () => {
  const marks = countOf('ackhook_marks')
  const where = { namespace: '' }
  await expect(onceIn(database, 'outside', { id: 'evt_2' }, where, () => {})).rejects.toThrow(
    ConfigurationError,
  )
  await expect(onceIn({ query() {} }, 'unknown', { id: 'evt_2' }, where, () => {})).rejects.toThrow(
    ConfigurationError,
  )
  expect(countOf('ackhook_marks')).toBe(marks)
})

it('names what its query must resolve to', async () => {
  const wrong = { ...database, query: async () => [] } as never as CustomDatabase<Tx>
  const handler = sqlEffects(wrong).once('wrong', () => {})
  await expect(handler(eventOf('evt_3'), contextOf())).rejects.toThrow('must resolve to { rows, affected }')
})
