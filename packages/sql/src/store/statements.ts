import type { Dialect } from '../database/dialect.ts'
import { NOW } from '../schema/ddl.ts'

// One row for each key. It is leased while `token` is set, `fingerprint` is not, and `until_ms` is ahead; handled while
// `fingerprint` is set and `until_ms` is ahead; otherwise free. A free row keeps the count of earlier runs until
// `expires_ms`, and may then be deleted. Every condition reads the database's clock.

export interface Statements {
  readonly claim: string
  /**
   * A claim of a key without a row, as nearly all are; empty on SQLite, where it saves nothing. The upsert takes PostgreSQL as
   * long to plan as this takes in all, and MySQL's does not tell whether it has changed a row.
   */
  readonly insert: string
  readonly read: string
  readonly extend: string
  readonly complete: string
  readonly release: string
  readonly releaseCounted: string
  /** Ends a lease, and leaves its count. */
  readonly undo: string
  readonly forget: string
  readonly prune: string
}

const COLUMNS = '(event_key, token, until_ms, expires_ms, fingerprint, lapses, attempts)'

/** The newest time of which a file of SQLite tells: an id has only the end of its retention. */
export const NEWEST_ID: string = `SELECT min(max(expires_ms), ${NOW.sqlite}) AS newest FROM ackhook_ids`

/** Rows deleted at a time: few enough that nothing waits for it. */
export const PRUNE_BATCH = 500

export function statementsOf(dialect: Dialect): Statements {
  return dialect === 'mysql' ? MYSQL : standard(dialect)
}

/**
 * Earlier runs that a counted claim finds: none if their count is over, or if nothing was counted. A lease that is over
 * and was not released is one more lapse; the owner's claim repeated is the same run.
 */
function lapsesOf(row: string, now: string, counted: string, token: string): string {
  return `CASE WHEN ${counted} OR ${row}expires_ms <= ${now} OR ${row}fingerprint IS NOT NULL OR ${row}expires_ms = ${row}until_ms THEN 0
    WHEN ${row}token IS NULL OR (${row}token = ${token} AND ${row}until_ms > ${now}) THEN ${row}lapses
    ELSE ${row}lapses + 1 END`
}

function attemptsOf(row: string, now: string, counted: string): string {
  return `CASE WHEN ${counted} OR ${row}expires_ms <= ${now} OR ${row}fingerprint IS NOT NULL OR ${row}expires_ms = ${row}until_ms THEN 0
    ELSE ${row}attempts END`
}

/** PostgreSQL and SQLite: an upsert with a condition, which returns a row if it has changed one. */
function standard(dialect: 'postgres' | 'sqlite'): Statements {
  const now = NOW[dialect]
  const [T, B] = dialect === 'postgres' ? ['::text', '::bigint'] : ['', '']
  const isMine = `event_key = ?${T} AND token = ?${T} AND fingerprint IS NULL AND until_ms > ${now}`
  const skip = dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''
  // TypeORM does not return how many rows of SQLite have changed.
  const returned = dialect === 'sqlite' ? ' RETURNING 1 AS changed' : ''
  const uncounted = 'excluded.expires_ms = excluded.until_ms'
  return {
    // Parameters as those of the claim.
    insert:
      dialect === 'postgres'
        ? `INSERT INTO ackhook_ids ${COLUMNS} VALUES (?${T}, ?${T}, ${now} + ?${B}, ${now} + ?${B}, NULL, 0, 0) ON CONFLICT DO NOTHING RETURNING 1 AS done`
        : '',
    // Parameters: key, token, lease, lease and count.
    claim: `INSERT INTO ackhook_ids AS d ${COLUMNS} VALUES (?${T}, ?${T}, ${now} + ?${B}, ${now} + ?${B}, NULL, 0, 0)
ON CONFLICT (event_key) DO UPDATE SET
  lapses = ${lapsesOf('d.', now, uncounted, 'excluded.token')},
  attempts = ${attemptsOf('d.', now, uncounted)},
  token = excluded.token, until_ms = excluded.until_ms, expires_ms = excluded.expires_ms, fingerprint = NULL
WHERE d.until_ms <= ${now} OR (d.fingerprint IS NULL AND d.token = excluded.token)
RETURNING lapses, attempts`,
    read: readOf(now, T),
    extend: `UPDATE ackhook_ids SET expires_ms = ${now} + ?${B} + expires_ms - until_ms, until_ms = ${now} + ?${B} WHERE ${isMine}${returned}`,
    // Parameters: key, token, retention twice, fingerprint.
    complete: `INSERT INTO ackhook_ids AS d ${COLUMNS} VALUES (?${T}, ?${T}, ${now} + ?${B}, ${now} + ?${B}, ?${B}, 0, 0)
ON CONFLICT (event_key) DO UPDATE SET token = excluded.token, until_ms = excluded.until_ms,
  expires_ms = excluded.expires_ms, fingerprint = excluded.fingerprint, lapses = 0, attempts = 0
WHERE d.until_ms <= ${now} OR d.fingerprint IS NOT NULL OR d.token = excluded.token
RETURNING 1 AS done`,
    release: `DELETE FROM ackhook_ids WHERE ${isMine}${returned}`,
    // Parameters: count's time, lapses, attempts, key, token.
    releaseCounted: `UPDATE ackhook_ids SET token = NULL, until_ms = ${now}, expires_ms = ${now} + ?${B}, lapses = ?${B}, attempts = ?${B} WHERE ${isMine}${returned}`,
    undo: `UPDATE ackhook_ids SET token = NULL, until_ms = ${now} WHERE ${isMine}${returned}`,
    forget: `DELETE FROM ackhook_ids WHERE event_key = ?${T} AND fingerprint IS NOT NULL AND until_ms > ${now}${returned}`,
    prune: `DELETE FROM ackhook_ids WHERE event_key IN (SELECT event_key FROM ackhook_ids WHERE expires_ms <= ${now} ORDER BY expires_ms LIMIT ${PRUNE_BATCH}${skip}) AND expires_ms <= ${now}${returned}`,
  }
}

function readOf(now: string, text: string): string {
  return `SELECT CASE WHEN token = ?${text} THEN 1 ELSE 0 END AS mine, fingerprint, until_ms - ${now} AS remaining, lapses, attempts FROM ackhook_ids WHERE event_key = ?${text}`
}

/**
 * MySQL and MariaDB. Their upsert has no condition, so each column has one. Columns are assigned from left to right, and
 * an expression sees the values before it: `token` is assigned early, and tells the ones after it what was decided.
 */
const MYSQL: Statements = mysql()

function mysql(): Statements {
  const now = NOW.mysql
  const isMine = `event_key = ? AND token = ? AND fingerprint IS NULL AND until_ms > ${now}`
  const takes = 'token = ? AND fingerprint IS NULL'
  const values = `VALUES (?, ?, ${now} + ?, ${now} + ?, NULL, 0, 0)`
  return {
    insert: `INSERT IGNORE INTO ackhook_ids ${COLUMNS} ${values}`,
    claim: `INSERT INTO ackhook_ids ${COLUMNS} ${values}
ON DUPLICATE KEY UPDATE
  lapses = IF(until_ms <= ${now} OR (fingerprint IS NULL AND token = ?), ${lapsesOf('', now, '? = 0', '?')}, lapses),
  attempts = IF(until_ms <= ${now} OR (fingerprint IS NULL AND token = ?), ${attemptsOf('', now, '? = 0')}, attempts),
  token = IF(until_ms <= ${now} OR (fingerprint IS NULL AND token = ?), ?, token),
  fingerprint = IF(until_ms <= ${now}, NULL, fingerprint),
  expires_ms = IF(${takes}, ${now} + ?, expires_ms),
  until_ms = IF(${takes}, ${now} + ?, until_ms)`,
    read: readOf(now, ''),
    extend: `UPDATE ackhook_ids SET expires_ms = ${now} + ? + expires_ms - until_ms, until_ms = ${now} + ? WHERE ${isMine}`,
    complete: `INSERT INTO ackhook_ids ${COLUMNS} VALUES (?, ?, ${now} + ?, ${now} + ?, ?, 0, 0)
ON DUPLICATE KEY UPDATE
  token = IF(until_ms <= ${now} OR fingerprint IS NOT NULL, ?, token),
  fingerprint = IF(token = ?, ?, fingerprint),
  lapses = IF(token = ?, 0, lapses),
  attempts = IF(token = ?, 0, attempts),
  expires_ms = IF(token = ?, ${now} + ?, expires_ms),
  until_ms = IF(token = ?, ${now} + ?, until_ms)`,
    release: `DELETE FROM ackhook_ids WHERE ${isMine}`,
    releaseCounted: `UPDATE ackhook_ids SET token = NULL, until_ms = ${now}, expires_ms = ${now} + ?, lapses = ?, attempts = ? WHERE ${isMine}`,
    undo: `UPDATE ackhook_ids SET token = NULL, until_ms = ${now} WHERE ${isMine}`,
    forget: `DELETE FROM ackhook_ids WHERE event_key = ? AND fingerprint IS NOT NULL AND until_ms > ${now}`,
    prune: `DELETE FROM ackhook_ids WHERE expires_ms <= ${now} ORDER BY expires_ms LIMIT ${PRUNE_BATCH}`,
  }
}
