import { sqliteInbox } from '@ackhook/sqlite'
import { started } from '../subjects/durable/inbox.mjs'
import { openSqlite } from './open-sqlite.mjs'

const NUMBERS =
  'WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1 - 1)'
const KEY = 'substr(hex(randomblob(11)), 1, 22)'

/** Writes handled ids to an inbox's file, with random keys as for real events. Their retention ends at `forgetAt`. */
export function fillIds(path, count, forgetAt) {
  return fill(path, `${NUMBERS} INSERT INTO ackhook_ids SELECT ${KEY}, ?2, 0 FROM numbers`, count, forgetAt)
}

/** Writes waiting events of 500 bytes each. */
export function fillBacklog(path, count) {
  const columns = 'key, state, due, fingerprint, accepted_at, received_at, id, type, namespace'
  const values = `${KEY}, 0, 0, 0, ?2, ?2, 'evt_' || n, 'conversation.resolved', ''`
  const sql = `${NUMBERS} INSERT INTO ackhook_events (${columns}) SELECT ${values} FROM numbers`
  return fill(
    path,
    sql,
    count,
    Date.now(),
    `INSERT INTO ackhook_bodies (seq, body) SELECT seq, zeroblob(500) FROM ackhook_events; INSERT INTO ackhook_counts VALUES ('unhandled', 0, ${count})`,
  )
}

/** Fills the file by SQL: a million events through the inbox would take minutes. */
async function fill(path, sql, count, time, afterwards = '') {
  const inbox = await started(sqliteInbox(path))
  await inbox.close(1000)
  const database = await openSqlite(path)
  database.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN')
  database.prepare(sql).run(count, time)
  database.exec(afterwards)
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}
