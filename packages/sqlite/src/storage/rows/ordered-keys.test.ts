import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { watchedDatabase } from '../../../../../test/support/watched-database.ts'
import { arrival, NOTHING, TERMS } from '../../../test/batches.ts'
import type { Arrival, Batch, Lease, Settlement } from '../../protocol/batch.ts'
import type { TakenRow } from '../../protocol/batch-result.ts'
import type { SqliteDatabase } from '../driver/database.ts'
import { Storage } from '../storage.ts'

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
  return arrival(index, { order: { key: 'tenant|conversation', createdAt: index } })
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
          : { seq, token, kind, reason: 'no', mark: null, group: 'g', stack: null }
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
  run(one, {
    settlements: [{ seq, token, kind: 'dead-letter', reason: 'no', mark: null, group: 'g', stack: null }],
  })
  run(one, { arrivals: [ordered(0)] })
  takenBy(one)
  run(one, { arrivals: [ordered(9)] })
  const again: Arrival = { ...ordered(1), fingerprint: 2 }
  expect(run(other, { arrivals: [again] })?.admissions).toEqual([{ later: 'replaced', waitMs: 110 }])
  for (const storage of [one, other]) storage.close()
  rmSync(folder, { recursive: true })
})

function ofOneKey(index: number, bytes = 0): Arrival {
  return arrival(index, { body: new Uint8Array(bytes), order: { key: 'cnv_1', createdAt: index } })
}

function complete({ seq, token }: Lease, next?: Lease): Settlement {
  const lease = next === undefined ? {} : { next: { seq: next.seq, token: next.token } }
  return { kind: 'complete', seq, token, forgetAt: 9e15, ...lease }
}

/** Runs each of `lives` as one process, which ends with a crash. */
function withFile(lives: ((run: (batch: Partial<Batch>) => TakenRow[], rows: () => unknown[]) => void)[]) {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  for (const live of lives) {
    const storage = new Storage(() => new DatabaseSync(path), path)
    storage.open()
    const database = new DatabaseSync(path)
    // Does what `endOrphanedLeases` does at the start of a process.
    database.exec('UPDATE ackhook_events SET token = NULL WHERE state = 1')
    const run = (batch: Partial<Batch>): TakenRow[] => {
      const taken = storage.run([{ ...NOTHING, readAhead: 32, ...batch }], TERMS)[0]?.taken ?? []
      if ('kind' in taken) throw new Error(taken.message)
      return [...taken]
    }
    const all = database.prepare('SELECT id, state, attempts, crashes FROM ackhook_events ORDER BY order_at')
    live(run, () => all.all())
    database.close()
    storage.close()
  }
  rmSync(folder, { recursive: true })
}

it('reads the rows behind a taken one, including arrivals of the same transaction', () => {
  withFile([
    run => {
      run({ arrivals: [ofOneKey(3), ofOneKey(1)] })
      const [head] = run({ arrivals: [ofOneKey(2)], take: 5 })
      expect(head).toMatchObject({ event: { id: 'evt_1' } })
      expect(head?.behind?.rows.map(({ event }) => event.id)).toEqual(['evt_2', 'evt_3'])
    },
  ])
})

it('reads no more rows ahead than requested, and at most 64 KiB of bodies', () => {
  withFile([
    run => {
      run({ arrivals: [1, 2, 3, 4].map(index => ofOneKey(index)) })
      const [head] = run({ take: 1, readAhead: 2 })
      expect(head?.behind?.rows).toHaveLength(2)
    },
  ])
  withFile([
    run => {
      run({ arrivals: [1, 2, 3, 4].map(index => ofOneKey(index, 30_000)) })
      const [head] = run({ take: 1 })
      expect(head?.behind?.rows).toHaveLength(2)
    },
  ])
})

it('passes the lease on with a result, so that a crash counts for the event that ran last', () => {
  withFile([
    run => {
      const [head] = run({ arrivals: [1, 2, 3].map(index => ofOneKey(index)), take: 5 })
      const [second] = head?.behind?.rows ?? []
      expect(run({ settlements: [complete(head as Lease, second)], take: 5 })).toEqual([])
    },
    (run, rows) => {
      // Nothing is read ahead behind an event that has crashed, nor behind any other for a while.
      const [again] = run({ take: 5 })
      expect(again).toMatchObject({ attempt: 2, event: { id: 'evt_2' }, behind: { rows: [] } })
      expect(rows()).toMatchObject([
        { id: 'evt_2', attempts: 2, crashes: 1 },
        { id: 'evt_3', state: 2, attempts: 0, crashes: 0 },
      ])
      const [last] = run({ settlements: [complete(again as Lease)], arrivals: [ofOneKey(4)], take: 5 })
      expect(last).toMatchObject({ attempt: 1, event: { id: 'evt_3' }, behind: { rows: [] } })
    },
  ])
})

it('passes no lease on with a result that comes too late', () => {
  withFile([
    (run, rows) => {
      const [head] = run({ arrivals: [1, 2].map(index => ofOneKey(index)), take: 5 })
      const [second] = head?.behind?.rows ?? []
      run({ settlements: [complete({ seq: head?.seq ?? 0, token: 'late' }, second)] })
      expect(rows()).toMatchObject([{ state: 1 }, { state: 2, attempts: 0 }])
    },
  ])
})
