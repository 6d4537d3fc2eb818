import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, expect, it, vi } from 'vitest'
import { watchedDatabase } from '../../../../test/support/watched-database.ts'
import { arrival, NOTHING, TERMS } from '../../test/batches.ts'
import type { Batch } from '../protocol/batch.ts'
import type { TakenRow } from '../protocol/batch-result.ts'
import type { FileNotice, LeftFile } from '../protocol/file-notice.ts'
import type { SqliteDatabase } from './driver/database.ts'
import { FULL } from './driver/sqlite-errors.ts'
import { Storage } from './storage.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Opens a real file whose disk fails every write while `fails` returns true. */
function openOn(path: string, fails: () => boolean, errcode = 10): SqliteDatabase {
  return watchedDatabase(new DatabaseSync(path), {
    beforeRun() {
      if (fails()) throw Object.assign(new Error('disk I/O error'), { errcode })
    },
  })
}

function arrivalOf(key: string, take = 0): Batch {
  return { ...NOTHING, arrivals: [arrival(1, { key, body: new Uint8Array(2) })], take }
}

it('creates no empty file in place of a moved one when the disk fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const [path, away] = [join(folder, 'inbox.db'), join(folder, 'away.db')]
  const move = (from: string, to: string) => {
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(from + suffix)) renameSync(from + suffix, to + suffix)
    }
  }
  let fails = false
  const storage = new Storage(() => openOn(path, () => fails), path)
  for (const key of ['running', 'waiting']) storage.run([arrivalOf(key)], TERMS)
  storage.run([{ ...arrivalOf('none'), arrivals: [], take: 1 }], TERMS)
  move(path, away)
  fails = true
  storage.renewLeases(TERMS.leaseMs)
  fails = false
  const [refused] = storage.run([arrivalOf('new')], TERMS)
  expect(refused?.admissions).toMatchObject({ message: expect.stringContaining('put it back') })
  expect(existsSync(path)).toBe(false)
  move(away, path)
  expect(storage.run([arrivalOf('new')], TERMS)[0]?.admissions).toEqual(['accepted'])
  const [taken] = storage.run([{ ...arrivalOf('none'), arrivals: [], take: 9 }], TERMS)
  expect(taken?.taken).toMatchObject([{ seq: 2 }, { seq: 3 }])
  storage.close()
  rmSync(folder, { recursive: true })
})

it('reopens the file immediately when a write fails while handlers run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  let fails = false
  let openings = 0
  const storage = new Storage(() => {
    openings++
    return openOn(path, () => fails)
  }, path)
  const [result] = storage.run([arrivalOf('key', 1)], TERMS)
  expect(result?.taken).toMatchObject([{ attempt: 1 }])
  fails = true
  storage.renewLeases(TERMS.leaseMs)
  fails = false
  // If no process has the file open, another one considers its leases orphaned: see orphaned-leases.ts.
  expect(openings).toBe(2)
  storage.close()
  rmSync(folder, { recursive: true })
})

it('waits twice for a file locked by another process, however many results it must record', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  const storage = new Storage(() => new DatabaseSync(path), path)
  storage.open()
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const batch: Batch = {
    ...NOTHING,
    settlements: [{ seq: 1, token: 'mine', kind: 'complete', forgetAt: 0 }],
  }
  const startedAt = performance.now()
  const results = storage.run(
    Array.from({ length: 5 }, () => batch),
    TERMS,
  )
  expect(performance.now() - startedAt).toBeLessThan(4000)
  for (const { settled } of results) expect(settled).toMatchObject({ code: 5 })
  other.close()
  storage.close()
  rmSync(folder, { recursive: true })
})

it('fails only the bad query, not the rest of its transaction', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  const storage = new Storage(() => new DatabaseSync(path), path)
  const [result] = storage.run(
    [
      {
        ...arrivalOf('key'),
        queries: [{ kind: 'get', key: Symbol('no text') as unknown as string }, { kind: 'stats' }],
      },
    ],
    TERMS,
  )
  expect(result).toMatchObject({
    admissions: ['accepted'],
    found: [{ kind: 'storage' }, { value: { pending: 1 } }],
  })
  storage.close()
  rmSync(folder, { recursive: true })
})

it('runs read-only queries even while the disk is full', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  let fails = false
  const storage = new Storage(() => openOn(path, () => fails, FULL), path)
  storage.open()
  fails = true
  const [result] = storage.run(
    [
      {
        ...NOTHING,
        settlements: [{ seq: 1, token: 'mine', kind: 'complete', forgetAt: 0 }],
        queries: [{ kind: 'stats' }, { kind: 'discard', key: 'key' }],
      },
    ],
    TERMS,
  )
  expect(result).toMatchObject({
    settled: { code: FULL },
    found: [{ value: { pending: 0 } }, { code: FULL }],
  })
  storage.close()
  rmSync(folder, { recursive: true })
})

/** Runs `body` with a storage whose statements call `beforeRun` and `read`, and with what it reports. */
function withWatched(
  watch: (path: string) => Parameters<typeof watchedDatabase>[1],
  body: (parts: { path: string; storage: Storage; left: LeftFile[]; openings: () => number }) => void,
): void {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const path = join(folder, 'inbox.db')
  const left: LeftFile[] = []
  let openings = 0
  const open = (): SqliteDatabase => {
    openings++
    return watchedDatabase(new DatabaseSync(path), watch(path))
  }
  const report = { notice(_: FileNotice) {}, leave: (one: LeftFile) => void left.push(one) }
  const storage = new Storage(open, path, true, { identity: undefined, report })
  try {
    body({ path, storage, left, openings: () => openings })
  } finally {
    storage.close()
    rmSync(folder, { recursive: true })
  }
}

/** Puts a log in the place of a storage's own, as another process leaves one that was killed. */
function replaceLog(path: string): void {
  rmSync(`${path}-wal`)
  writeFileSync(`${path}-wal`, 'of another process')
}

it('records no result in a log without a name when the arrivals beside it failed', () => {
  let isFull = false
  const watch = (path: string) => ({
    beforeRun(sql: string) {
      if (isFull && sql.startsWith('INSERT INTO ackhook_events'))
        throw Object.assign(new Error('database or disk is full'), { errcode: FULL })
      if (isFull && sql === 'COMMIT') replaceLog(path)
    },
  })
  withWatched(watch, ({ storage, left }) => {
    const [taken] = storage.run([arrivalOf('key', 1)], TERMS)
    expect(taken).toMatchObject({ admissions: ['accepted'], taken: [{ seq: 1 }] })
    const [row] = (taken?.taken ?? []) as readonly TakenRow[]
    isFull = true
    const complete = { seq: 1, token: row?.token ?? '', kind: 'complete', forgetAt: 0 } as const
    const [result] = storage.run([{ ...arrivalOf('new'), settlements: [complete] }], TERMS)
    expect(result).toMatchObject({ admissions: { code: FULL }, settled: { kind: 'storage' } })
    expect(left).toMatchObject([{ log: 'gone' }])
  })
})

it('acknowledges nothing, and throws nothing, when it cannot tell where the log is', () => {
  let fails = false
  const read = (row: unknown): unknown => {
    if (fails && Object(row).checkpointed !== undefined)
      throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    return row
  }
  withWatched(
    () => ({ read }),
    ({ path, storage }) => {
      storage.run([arrivalOf('key')], TERMS)
      fails = true
      truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 1)
      const [result] = storage.run([arrivalOf('new')], TERMS)
      expect(result).toMatchObject({ admissions: { code: 10 }, settled: { code: 10 }, found: { code: 10 } })
    },
  )
})

it("closes no connection over another process's log when the disk fails", () => {
  let fails = false
  const watch = () => ({
    beforeRun() {
      if (fails) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    },
  })
  withWatched(watch, ({ path, storage, left, openings }) => {
    storage.run([arrivalOf('key')], TERMS)
    replaceLog(path)
    fails = true
    expect(storage.run([arrivalOf('new')], TERMS)).toMatchObject([{ admissions: { code: 10 } }])
    expect(readFileSync(`${path}-wal`, 'utf8')).toBe('of another process')
    expect(left).toMatchObject([{ newest: 'key', log: 'gone' }])
    expect(openings()).toBe(1)
  })
})

it('knows its newest acknowledged event after the file was opened again', () => {
  let fails = false
  const watch = () => ({
    beforeRun() {
      if (fails) throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
    },
  })
  withWatched(watch, ({ path, storage, left, openings }) => {
    storage.open()
    // The log stays while another process has the file open.
    const other = new DatabaseSync(path)
    other.prepare('SELECT count(*) FROM ackhook_events').get()
    storage.run([arrivalOf('key', 1)], TERMS)
    fails = true
    storage.renewLeases(TERMS.leaseMs)
    fails = false
    expect(openings()).toBe(2)
    replaceLog(path)
    storage.watch()
    expect(left).toMatchObject([{ newest: 'key', log: 'gone' }])
    other.close()
  })
})

it('tells that the clock was set even when the transaction that saw it fails', () => {
  let fails = false
  const watch = () => ({
    beforeRun(sql: string) {
      if (fails && sql === 'COMMIT') throw Object.assign(new Error('full'), { errcode: FULL })
    },
  })
  withWatched(watch, ({ storage }) => {
    storage.run([arrivalOf('key')], TERMS)
    const now = Date.now
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 31 * 86_400_000)
    fails = true
    expect(storage.run([arrivalOf('new')], TERMS)[0]).toMatchObject({
      admissions: { code: FULL },
      notices: [{ code: 'clock_differs' }],
    })
    fails = false
    expect(storage.run([arrivalOf('new')], TERMS)[0]?.notices).toBeUndefined()
  })
})

it('drops no figures of minutes and days while the clock is in doubt', () => {
  withWatched(
    () => ({}),
    ({ storage }) => {
      const wall = Date.now()
      let movedMs = 0
      vi.spyOn(Date, 'now').mockImplementation(() => wall + movedMs)
      const addActivity = (): void => {
        const startedAt = wall + movedMs
        const slots = [{ startedAt, lengthMs: 1000, keptSince: startedAt - 60_000, counts: { a: 1 } }]
        storage.run([{ ...NOTHING, queries: [{ kind: 'add-activity', slots }] }], TERMS)
      }
      storage.run([arrivalOf('key')], TERMS)
      addActivity()
      for (movedMs of [31 * 86_400_000, -86_400_000]) {
        storage.run([arrivalOf(`at ${movedMs}`)], TERMS)
        addActivity()
      }
      movedMs = 0
      const query = { lengthMs: 1000, since: wall }
      const queries = [{ kind: 'throughput' }, { kind: 'activity', query }] as const
      const [result] = storage.run([{ ...NOTHING, queries }], TERMS)
      expect(result?.found).toMatchObject([
        { value: expect.arrayContaining([expect.objectContaining({ received: 1 })]) },
        { value: [{ startedAt: wall }, { startedAt: wall + 31 * 86_400_000 }] },
      ])
    },
  )
})
