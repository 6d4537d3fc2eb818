import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import { watchedDatabase } from '../../../../test/support/watched-database.ts'
import { arrival, NOTHING, TERMS } from '../../test/batches.ts'
import type { Batch } from '../protocol/batch.ts'
import type { SqliteDatabase } from './driver/database.ts'
import { FULL } from './driver/sqlite-errors.ts'
import { Storage } from './storage.ts'

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
