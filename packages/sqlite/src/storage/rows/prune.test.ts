import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { SqliteDatabase } from '../driver/database.ts'
import { prepareDatabase } from '../schema/prepare-database.ts'
import { ACTIVE, DEAD, DONE, WAITING } from '../schema/states.ts'
import { Prune } from './prune.ts'

const NOW = 1_000_000

/** `rows` of one state, due from `from` on, one a millisecond. */
function fill(database: SqliteDatabase, state: number, rows: number, from: number): void {
  database.exec(`WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows - 1})
    INSERT INTO ackhook_events (key, state, due, fingerprint, accepted_at, received_at, id, type, namespace)
    SELECT lower(hex(randomblob(11))), ${state}, ${from} + n, 0, 0, 0, n, '', '' FROM numbers`)
}

function withDatabase(body: (database: SqliteDatabase) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  const database = new DatabaseSync(join(folder, 'inbox.db'))
  try {
    prepareDatabase(database)
    // Nothing here has to survive the machine.
    database.exec('PRAGMA synchronous = OFF')
    body(database)
  } finally {
    database.close()
    rmSync(folder, { recursive: true })
  }
}

it('forgets 100,000 ids in portions of 500, whose work does not grow with the file, and nothing else', () => {
  withDatabase(database => {
    fill(database, DONE, 100_000, NOW - 100_000)
    fill(database, DONE, 50_000, NOW + 1)
    for (const state of [WAITING, ACTIVE, DEAD]) fill(database, state, 10, 0)
    const changes = database.prepare('SELECT changes() AS rows')
    const prune = new Prune(database)
    let portions = 0
    while (prune.removeSome(NOW)) {
      expect(changes.get()).toEqual({ rows: 500 })
      portions++
    }
    expect(portions).toBe(200)
    expect(database.prepare('SELECT count(*) AS rows FROM ackhook_events').get()).toEqual({ rows: 50_030 })
    expect(prune.removeSome(NOW)).toBe(false)
  })
})

it('finds what to forget by an index, the oldest first', () => {
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
    expect(seen.length).toBeGreaterThan(0)
    for (const sql of seen) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(NOW) as { detail: string }[]
      const details = plan.map(({ detail }) => detail).join('; ')
      expect(details).toMatch(/INDEX ackhook_events_due \(state=\? AND due<\?\)/)
      expect(details).not.toMatch(/SCAN|TEMP B-TREE/)
    }
  })
})
