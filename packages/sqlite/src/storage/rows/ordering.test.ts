import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { watchedDatabase } from '../../../../../test/support/watched-database.ts'
import type { Arrival, Batch, Settlement } from '../../protocol/batch.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { Storage } from '../storage.ts'

const TERMS = {
  capacity: 10_000,
  leaseMs: 10_000,
  minDelayMs: 10,
  maxDelayMs: 50,
  factor: 2,
  concurrency: 16,
  groups: undefined,
}
const NOTHING: Batch = {
  arrivals: [],
  bytes: new Uint8Array(),
  settlements: [],
  checks: [],
  queries: [],
  take: 0,
  readAhead: 0,
}

/** Opens a database that binds texts whole but reads them only up to a `|`, as Node 22's `node:sqlite` does at a NUL. */
function openShortened(path: string): SqliteDatabase {
  return watchedDatabase(new DatabaseSync(path), { read: shorten })
}

function shorten(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row
  const short = (value: unknown) => (typeof value === 'string' ? value.split('|')[0] : value)
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, short(value)]))
}

function ordered(index: number): Arrival {
  return [
    index,
    `key${index}`,
    '',
    `evt_${index}`,
    'a.b',
    1,
    0,
    0,
    'tenant|conversation',
    index,
    null,
    null,
    null,
  ]
}

it.each(['complete', 'dead-letter'] as const)(
  'continues with a key that the driver reads back truncated, after %s',
  kind => {
    const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
    const path = join(folder, 'inbox.db')
    const storage = new Storage(() => openShortened(path), path)
    const run = (batch: Partial<Batch>) => {
      const taken = storage.run([{ ...NOTHING, take: 5, ...batch }], TERMS)[0]?.taken ?? []
      if ('kind' in taken) throw new Error(taken.message)
      return taken
    }
    let taken = run({ arrivals: [0, 1, 2].map(ordered) })
    for (let index = 0; index < 3; index++) {
      expect(taken).toHaveLength(1)
      const { seq = 0, token = '' } = taken[0] ?? {}
      const settlement: Settlement =
        kind === 'complete'
          ? { seq, token, kind, forgetAt: 9e15 }
          : { seq, token, kind, failedAt: 0, reason: 'no', mark: null }
      taken = run({ settlements: [settlement] })
    }
    const keys = [0, 1, 2].map(index => `key${index}`)
    if (kind === 'dead-letter') {
      run({ take: 0, queries: keys.map(key => ({ kind: 'redrive', key })) })
      expect(run({})).toHaveLength(1)
    }
    storage.close()
    rmSync(folder, { recursive: true })
  },
)

it("finds a key's rows by the index", () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const seen: string[] = []
  const path = join(folder, 'inbox.db')
  const database = new DatabaseSync(path)
  const storage = new Storage(
    () => ({
      exec: sql => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        seen.push(sql)
        return database.prepare(sql)
      },
    }),
    path,
  )
  storage.open()
  const statements = seen.filter(sql => /order_key = \(/.test(sql))
  expect(statements.length).toBe(5)
  for (const sql of statements) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
    const details = plan.map(({ detail }) => detail).join('; ')
    expect(details).toMatch(/INDEX ackhook_events_order/)
    expect(details).not.toMatch(/SCAN|TEMP B-TREE/)
  }
  storage.close()
  rmSync(folder, { recursive: true })
})

it('reports an event that replaces a dead letter with other bytes and overtakes rows read ahead', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  const [one, other] = [1, 2].map(() => new Storage(() => new DatabaseSync(path) as never, path)) as [
    Storage,
    Storage,
  ]
  const run = (storage: Storage, batch: Partial<Batch>) => storage.run([{ ...NOTHING, ...batch }], TERMS)[0]
  const takenBy = (storage: Storage) => {
    const taken = run(storage, { take: 1 })?.taken ?? []
    if ('kind' in taken) throw new Error(taken.message)
    return taken[0] ?? { seq: 0, token: '' }
  }
  run(one, { arrivals: [ordered(1)] })
  const { seq, token } = takenBy(one)
  run(one, { settlements: [{ seq, token, kind: 'dead-letter', failedAt: 0, reason: 'no', mark: null }] })
  run(one, { arrivals: [ordered(0)] })
  takenBy(one)
  run(one, { arrivals: [ordered(9)] })
  const [ref, key, namespace, id, type, , ...rest] = ordered(1)
  const again: Arrival = [ref, key, namespace, id, type, 2, ...rest]
  expect(run(other, { arrivals: [again] })?.admissions).toEqual(['overtaking-replaced'])
  for (const storage of [one, other]) storage.close()
  rmSync(folder, { recursive: true })
})
