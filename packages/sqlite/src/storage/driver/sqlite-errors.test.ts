import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadDriver, type OpenFile } from './driver.ts'
import { faultOf } from './sqlite-errors.ts'

// SQLite itself says each error, and the hint must be about that error.

const folder = mkdtempSync(join(tmpdir(), 'ackhook-sqlite-errors-'))
let open: OpenFile
beforeAll(async () => {
  open = await loadDriver()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function faultIn(name: string, ...statements: string[]) {
  try {
    const database = open(name === ':memory:' ? name : join(folder, name))
    try {
      for (const statement of statements) database.exec(statement)
    } finally {
      database.close()
    }
  } catch (error) {
    return faultOf(error)
  }
  return undefined
}

test.each([
  [
    'BUSY',
    5,
    /find the process/,
    () => {
      const holder = open(join(folder, 'busy.db'))
      holder.exec('CREATE TABLE one (id); BEGIN EXCLUSIVE')
      const fault = faultIn('busy.db', 'PRAGMA busy_timeout = 0', 'INSERT INTO one VALUES (1)')
      holder.close()
      return fault
    },
  ],
  [
    'READONLY',
    8,
    /write access to both/,
    () =>
      faultIn(':memory:', 'CREATE TABLE one (id)', 'PRAGMA query_only = on', 'INSERT INTO one VALUES (1)'),
  ],
  [
    'CORRUPT',
    11,
    /move it away/,
    () => {
      faultIn('damaged.db', 'CREATE TABLE one (id)', "INSERT INTO one VALUES ('a')")
      const bytes = readFileSync(join(folder, 'damaged.db'))
      // The first page has the schema.
      writeFileSync(join(folder, 'damaged.db'), bytes.fill(0xff, 4096))
      return faultIn('damaged.db', 'SELECT * FROM one', 'DELETE FROM one')
    },
  ],
  [
    'FULL',
    13,
    /free some space/,
    () =>
      faultIn(
        ':memory:',
        'PRAGMA max_page_count = 2',
        'CREATE TABLE one (id)',
        'CREATE TABLE two (id)',
        'CREATE TABLE three (id)',
      ),
  ],
  ['CANTOPEN', 14, /the folder must exist/, () => faultIn('missing/inbox.db', 'SELECT 1')],
  [
    'NOTADB',
    26,
    /name another file/,
    () => {
      writeFileSync(join(folder, 'text.db'), 'text, and no database. '.repeat(100))
      return faultIn('text.db', 'SELECT * FROM sqlite_schema')
    },
  ],
] as const)('SQLite says %s', (_, code, fix, provoke) => {
  const fault = provoke()
  expect(fault).toMatchObject({ kind: 'storage', code })
  expect(fault?.message).toMatch(fix)
})

test('gives no hint on another error', () => {
  const fault = faultIn(':memory:', 'SELECT nonsense')
  expect(fault?.message).toMatch(/^no such column: "?nonsense"?$/)
})
