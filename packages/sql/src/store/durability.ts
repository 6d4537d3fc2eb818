import type { StoreNotice } from '@ackhook/core/spi'
import type { Dialect, Result } from '../database/dialect.ts'

/** Settings with which a database may forget what it has confirmed, and the value that keeps it. */
const QUESTIONS: Readonly<Record<Dialect, string>> = {
  postgres: `SELECT CASE WHEN relpersistence = 'u' THEN 'ackhook_dedupe is UNLOGGED'
  WHEN current_setting('fsync') = 'off' THEN 'fsync is off'
  WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit is off' END AS reason
FROM pg_class WHERE oid = 'ackhook_dedupe'::regclass`,
  mysql:
    "SELECT IF(@@innodb_flush_log_at_trx_commit = 1, NULL, CONCAT('innodb_flush_log_at_trx_commit is ', @@innodb_flush_log_at_trx_commit)) AS reason",
  sqlite: "SELECT CASE synchronous WHEN 0 THEN 'synchronous is OFF' END AS reason FROM pragma_synchronous",
}

/** Returns a notice if a crash of the database may forget ids that it has confirmed. */
export async function durabilityNotice(
  query: (text: string) => Promise<Result>,
  dialect: Dialect,
): Promise<StoreNotice | undefined> {
  // A user without the permission, or a database that only speaks the protocol: the store works all the same.
  const result = await query(QUESTIONS[dialect]).catch(() => undefined)
  const reason = result?.rows[0]?.['reason']
  if (typeof reason !== 'string') return undefined
  return {
    code: 'sql_may_forget',
    message: `A crash of the database may forget ids that sqlStore has recorded: ${reason}. Their events run again when they are redelivered.`,
  }
}
