import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { SqliteDatabase } from '../driver/database.ts'
import { prepareDatabase } from '../schema/prepare-database.ts'
import { Prune } from './prune.ts'

const NOW = 1_000_000_000_000
const HOUR_MS = 3_600_000

/** Inserts `ids` ids that expire one per millisecond, the first at `from`. */
function fill(database: SqliteDatabase, ids: number, from: number): void {
  database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ids - 1})
    INSERT INTO ackhook_ids SELECT lower(hex(randomblob(11))), ${from} + n, 0, 0 FROM numbers`)
}

function withDatabase(body: (database: SqliteDatabase, count: () => number) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const database = new DatabaseSync(join(folder, 'inbox.db'))
  try {
    prepareDatabase(database)
    // These rows need not survive a power loss.
    database.exec('PRAGMA synchronous = OFF')
    const rows = database.prepare('SELECT count(*) AS rows FROM ackhook_ids')
    body(database, () => (rows.get() as { rows: number }).rows)
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

it('forgets 100,000 ids in portions of at most 2,000, and nothing else', () => {
  withDatabase((database, count) => {
    fill(database, 100_000, NOW - 100_000)
    fill(database, 50_000, NOW + 1)
    const prune = new Prune(database)
    let portions = 1
    for (let before = count(), after = before; prune.removeSome(NOW); portions++, before = after) {
      after = count()
      expect(before - after).toBeLessThanOrEqual(2000)
    }
    expect(portions).toBe(76)
    expect(count()).toBe(50_000)
  })
})

it('forgets dozens of ids per written page, however many there are', () => {
  withDatabase(database => {
    fill(database, 100_000, NOW - 100_000)
    const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
    checkpoint.get()
    const prune = new Prune(database)
    for (let portion = 0; portion < 5; portion++) prune.removeSome(NOW)
    const written = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }
    expect(written.log).toBeLessThan(10_000 / 40)
  })
})

it('pauses until an id can have expired, but for at most an hour', () => {
  withDatabase((database, count) => {
    fill(database, 1, NOW + HOUR_MS / 2)
    fill(database, 1, NOW + 3 * HOUR_MS)
    const prune = new Prune(database)
    const pass = (now: number): number => {
      prune.removeSome(now)
      return count()
    }
    expect(pass(NOW)).toBe(2)
    fill(database, 1, NOW + 1)
    expect(pass(NOW + HOUR_MS / 2 - 1)).toBe(3)
    expect(pass(NOW + HOUR_MS / 2)).toBe(1)
    fill(database, 1, NOW + HOUR_MS)
    expect(pass(NOW + 1.5 * HOUR_MS - 1)).toBe(2)
    expect(pass(NOW + 1.5 * HOUR_MS)).toBe(1)
  })
})

it('goes through the ids by primary key, in key order', () => {
  const seen: string[] = []
  withDatabase(database => {
    new Prune({
      exec: sql => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        seen.push(sql)
        return database.prepare(sql)
      },
    })
    expect(seen.length).toBe(2)
    for (const sql of seen) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      const details = plan.map(({ detail }) => detail).join('; ')
      expect(details).toMatch(/SEARCH ackhook_ids USING PRIMARY KEY \(key>\?/)
      expect(details).not.toMatch(/SCAN ackhook_ids|TEMP B-TREE/)
    }
  })
})
