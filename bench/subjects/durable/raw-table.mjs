import { openSqlite } from '../../lib/open-sqlite.mjs'

/** One table with events, WAL, synchronous=FULL: as durable as an inbox, and nothing else of one. */
export async function openRawTable(path) {
  const database = await openSqlite(path)
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=10000')
  database.exec(
    'CREATE TABLE events (key TEXT PRIMARY KEY, type TEXT, body BLOB, received_at INTEGER) WITHOUT ROWID',
  )
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  return {
    /** In one transaction. */
    commit(deliveries) {
      database.exec('BEGIN IMMEDIATE')
      for (const { key, type, body, receivedAt } of deliveries) insert.run(key, type, body, receivedAt)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}
