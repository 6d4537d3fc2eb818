import type { Dialect, Result } from '../database/dialect.ts'
import type { Table } from './check.ts'

/** Settings with which a database may forget what it has confirmed, and the value that keeps it. */
function questionOf(dialect: Dialect, table: Table): string {
  if (dialect === 'postgres')
    return `SELECT CASE WHEN relpersistence = 'u' THEN '${table} is UNLOGGED'
  WHEN current_setting('fsync') = 'off' THEN 'fsync is off'
  WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit is off' END AS reason
FROM pg_class WHERE oid = '${table}'::regclass`
  if (dialect === 'mysql')
    return "SELECT IF(@@innodb_flush_log_at_trx_commit = 1, NULL, CONCAT('innodb_flush_log_at_trx_commit is ', @@innodb_flush_log_at_trx_commit)) AS reason"
  return `SELECT CASE WHEN synchronous = 0 THEN 'synchronous is OFF'
  WHEN synchronous = 1 AND journal_mode = 'wal' THEN 'synchronous is NORMAL, which keeps a commit over a crash of the process, and not over a loss of power' END AS reason
FROM pragma_synchronous, pragma_journal_mode`
}

/** Returns why a crash of the database may forget what it has confirmed. */
export async function whyForgotten(
  query: (text: string) => Promise<Result>,
  dialect: Dialect,
  table: Table,
): Promise<string | undefined> {
  // A user without the permission, or a database that only speaks the protocol: everything works all the same.
  const result = await query(questionOf(dialect, table)).catch(() => undefined)
  const reason = result?.rows[0]?.['reason']
  return typeof reason === 'string' ? reason : undefined
}
