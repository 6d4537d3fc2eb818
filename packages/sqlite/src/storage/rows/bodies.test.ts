import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { watchedDatabase } from '../../../../../test/support/watched-database.ts'
import { arrival, NOTHING, TERMS } from '../../../test/batches.ts'
import type { Arrival, Batch } from '../../protocol/batch.ts'
import type { TakenRow } from '../../protocol/batch-result.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { Storage } from '../storage.ts'

const LARGE = 1_000_000
const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
}
const DIES = { kind: 'dead-letter', reason: 'no', mark: null, group: 'g', stack: null } as const

function sized(index: number, bytes: number): Arrival {
  return arrival(index, { body: new Uint8Array(bytes) })
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
    run({ arrivals: [sized(1, LARGE)] })
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

it('redrives and discards dead letters without reading or writing a body', () => {
  withStorage((database, run) => {
    for (const ref of [1, 2, 3]) run({ arrivals: [arrival(ref, { body: new Uint8Array(LARGE).fill(ref) })] })
    const { taken } = run({ take: 3 })
    if ('kind' in taken) throw new Error('nothing was taken')
    run({ settlements: taken.map(({ seq, token }) => ({ ...DIES, seq, token })) })
    database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()
    run({ queries: [{ kind: 'redrive', key: 'key1' }] })
    const written = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }
    expect(written.log).toBeLessThan(LARGE / 4096 / 10)
    const again = run({ take: 1 }).taken
    expect(again).toMatchObject([{ seq: 4, event: { id: 'evt_1' } }])
    run({ queries: [{ kind: 'discard', key: 'key2' }] })
    if ('kind' in again || again[0] === undefined) throw new Error('nothing was taken')
    const { seq, token, event } = again[0]
    expect([event?.body.length, event?.body.at(0), event?.body.at(-1)]).toEqual([LARGE, 1, 1])
    run({ settlements: [{ kind: 'complete', seq, token, forgetAt: Date.now() + 60_000 }] })
    expect(database.prepare('SELECT seq FROM ackhook_bodies').all()).toEqual([{ seq: 3 }])
  })
})

it('keeps the body of a letter that dies and runs again more than once', () => {
  withStorage((_database, run) => {
    run({ arrivals: [arrival(1, { body: new Uint8Array([1, 2, 3]) })] })
    for (let times = 1; times <= 3; times++) {
      const { taken } = run({ take: 1 })
      if ('kind' in taken || taken[0] === undefined) throw new Error('nothing was taken')
      const { seq, token, event } = taken[0]
      expect(event?.body).toEqual(new Uint8Array([1, 2, 3]))
      run({ settlements: [{ ...DIES, seq, token }] })
      run({ arrivals: [arrival(times + 10, { body: new Uint8Array([9]) })] })
      run({ queries: [{ kind: 'redrive', key: 'key1' }] })
      run({ queries: [{ kind: 'forget', key: `key${times + 10}` }] })
      const others = run({ take: 1 }).taken
      if ('kind' in others || others[0] === undefined) throw new Error('nothing was taken')
      const { seq: otherSeq, token: otherToken } = others[0]
      run({ settlements: [{ kind: 'complete', seq: otherSeq, token: otherToken, forgetAt: 9e15 }] })
    }
  })
})

it('keeps the trace context of an event across a redrive', () => {
  withStorage((_, run) => {
    const runNext = (batch: Partial<Batch>) => run(batch).taken
    run({ arrivals: [sized(1, 1)] })
    const [plain] = runNext({ take: 1 }) as [TakenRow]
    expect(plain.event).not.toHaveProperty('trace')
    run({ arrivals: [{ ...sized(2, 1), trace: TRACE }] })
    const [first] = runNext({ take: 1 }) as [TakenRow]
    expect(first.event).toMatchObject({ id: 'evt_2', trace: TRACE })
    runNext({ settlements: [{ ...DIES, seq: first.seq, token: first.token }] })
    runNext({ queries: [{ kind: 'redrive', key: 'key2' }] })
    const [again] = runNext({ take: 1 }) as [TakenRow]
    expect(again.event).toMatchObject({ id: 'evt_2', trace: TRACE })
  })
})

it('stores nothing of an event whose body SQLite refuses, but the rest of its transaction', () => {
  let refused = false
  const refuseOne = (sql: string): void => {
    if (refused || !sql.startsWith('INSERT INTO ackhook_bodies')) return
    refused = true
    throw Object.assign(new Error('string or blob too big'), { errcode: 18 })
  }
  withStorage(
    (database, run) => {
      const { admissions } = run({ arrivals: [sized(1, 1), sized(2, 1)] })
      expect(admissions).toEqual([{ refused: expect.stringContaining('body.limit') }, 'accepted'])
      const left = database.prepare('SELECT key FROM ackhook_events JOIN ackhook_bodies USING (seq)').all()
      expect(left).toEqual([{ key: 'key2' }])
      const { found } = run({ queries: [{ kind: 'stats' }] })
      expect(found).toMatchObject([{ value: { pending: 1 } }])
    },
    database => watchedDatabase(database, { beforeRun: refuseOne }),
  )
})
