import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { watchedDatabase } from '../../../../../test/support/watched-database.ts'
import type { Arrival, Batch } from '../../protocol/batch.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { Storage } from '../storage.ts'

const TERMS = { capacity: 10, leaseMs: 10_000, minDelayMs: 10, maxDelayMs: 50, factor: 2 }
const NOTHING: Batch = {
  arrivals: [],
  bytes: new Uint8Array(),
  settlements: [],
  checks: [],
  queries: [],
  take: 0,
  readAhead: 0,
}
const LARGE = 1_000_000

function arrival(ref: number, bytes: number): Arrival {
  return [ref, `key${ref}`, '', `evt_${ref}`, 'a.b', 1, 0, bytes, null, null]
}

function withStorage(
  work: (
    database: SqliteDatabase,
    run: (batch: Partial<Batch>) => ReturnType<Storage['run']>[number],
  ) => void,
  watch: (database: SqliteDatabase) => SqliteDatabase = database => database,
): void {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const database = new DatabaseSync(join(folder, 'inbox.db'))
  try {
    const storage = new Storage(() => watch(database))
    storage.open()
    work(database, batch => storage.run([{ ...NOTHING, ...batch }], TERMS)[0]!)
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

it('writes a body once, however often its event is leased and retried', () => {
  withStorage((database, run) => {
    run({ arrivals: [arrival(1, LARGE)], bytes: new Uint8Array(LARGE) })
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    for (let attempt = 1; attempt <= 3; attempt++) {
      const { taken } = run({ take: 1 })
      if ('kind' in taken) throw new Error('nothing was taken')
      const { seq = 0, token = '', event } = taken[0] ?? {}
      expect(event?.body.length).toBe(LARGE)
      run({ settlements: [{ kind: 'retry', seq, token, delayMs: 0, reason: 'no' }] })
    }
    const written = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }
    expect(written.log).toBeLessThan(LARGE / 4096 / 2)
  })
})

it('stores nothing of an event whose body SQLite refuses, and the others of its transaction', () => {
  let refused = false
  const refuseOne = (sql: string): void => {
    if (refused || !sql.startsWith('INSERT INTO ackhook_bodies')) return
    refused = true
    throw Object.assign(new Error('string or blob too big'), { errcode: 18 })
  }
  withStorage(
    (database, run) => {
      const { admissions } = run({ arrivals: [arrival(1, 1), arrival(2, 1)], bytes: new Uint8Array(2) })
      expect(admissions).toEqual([{ refused: expect.stringContaining('bodyLimit') }, 'accepted'])
      const left = database.prepare('SELECT key FROM ackhook_events JOIN ackhook_bodies USING (seq)').all()
      expect(left).toEqual([{ key: 'key2' }])
      const { found } = run({ queries: [{ kind: 'stats' }] })
      expect(found).toMatchObject([{ value: { pending: 1 } }])
    },
    database => watchedDatabase(database, { beforeRun: refuseOne }),
  )
})
