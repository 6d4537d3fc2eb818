import { openSqlite } from '../../lib/open-sqlite.mjs'

/** Opens a single table of events, with WAL and synchronous=FULL: as durable as an inbox, without its other features. */
export async function openRawTable(path) {
  const database = await openSqlite(path)
  database.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=10000')
  database.exec(
    'CREATE TABLE events (key TEXT PRIMARY KEY, type TEXT, body BLOB, received_at INTEGER) WITHOUT ROWID',
  )
  const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  return {
    /** Inserts in one transaction. */
    commit(deliveries) {
      database.exec('BEGIN IMMEDIATE')
      for (const { key, type, body, receivedAt } of deliveries) insert.run(key, type, body, receivedAt)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}
