import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, it } from 'vitest'
import type { SqliteDatabase } from '../driver/database.ts'
import { Storage } from '../storage.ts'

it('sets the pragmas that durability requires on every connection, whatever was set before', () => {
  withFolder(folder => {
    const path = join(folder, 'inbox.db')
    const opened: SqliteDatabase[] = []
    const open = (): SqliteDatabase => {
      const database = new DatabaseSync(path)
      database.exec('PRAGMA synchronous = OFF; PRAGMA busy_timeout = 7')
      opened.push(database)
      return database
    }
    for (const storage of [new Storage(open, path), new Storage(open, path)]) storage.open()
    expect(opened.map(settingsOf)).toEqual([PROMISED, PROMISED])
    for (const database of opened) database.close()
  })
})

it.each([
  ['journal_mode = WAL', /journal_mode is 'delete', but durability requires 'wal'/],
  ['synchronous = FULL', /synchronous is '0'/],
  ['busy_timeout = 1000', /busy_timeout is '7'/],
])('refuses a database that ignores %s', (setting, message) => {
  withFolder(folder => {
    const database = new DatabaseSync(join(folder, 'inbox.db'))
    database.exec('PRAGMA synchronous = OFF')
    const storage = new Storage(() => without(database, setting))
    expect(() => storage.open()).toThrow(message)
    database.close()
  })
})

it('tries again when another process is switching the new file to WAL', () => {
  withFolder(folder => {
    const database = new DatabaseSync(join(folder, 'inbox.db'))
    const refusals = ['PRAGMA journal_mode = WAL', 'PRAGMA journal_mode = WAL']
    const storage = new Storage(() => ({
      exec: sql => database.exec(sql),
      prepare(sql) {
        if (sql === refusals[0]) {
          refusals.shift()
          throw Object.assign(new Error('database is locked'), { errcode: 5 })
        }
        return database.prepare(sql)
      },
      close: () => database.close(),
    }))
    storage.open()
    expect(refusals).toEqual([])
    expect(settingsOf(database)).toEqual(PROMISED)
    database.close()
  })
})

/** Ignores one setting, as SQLite silently does with one that it cannot set. */
function without(database: SqliteDatabase, setting: string): SqliteDatabase {
  const other = setting.startsWith('busy_timeout') ? 'PRAGMA busy_timeout = 7' : ''
  const isIgnored = (sql: string): boolean => sql === `PRAGMA ${setting}`
  return {
    exec: sql => database.exec(isIgnored(sql) ? other : sql),
    prepare: sql => database.prepare(isIgnored(sql) ? 'SELECT 1' : sql),
    close: () => database.close(),
  }
}

const PROMISED = { journal_mode: 'wal', synchronous: 2, timeout: 1000 }

function settingsOf(database: SqliteDatabase): unknown {
  const rows = ['journal_mode', 'synchronous', 'busy_timeout'].map(name =>
    database.prepare(`PRAGMA ${name}`).get(),
  )
  return Object.assign({}, ...rows)
}

function withFolder(body: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-'))
  try {
    body(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
