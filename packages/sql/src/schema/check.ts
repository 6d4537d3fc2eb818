import { AckhookError } from '@ackhook/core'
import type { Dialect, Query } from '../database/dialect.ts'
import { isMissingTable } from '../database/transient.ts'

/** Each table, and what it was called before. */
const FORMER = {
  ackhook_marks: 'ackhook_once',
  ackhook_states: 'ackhook_newest',
  ackhook_ids: 'ackhook_dedupe',
} as const

export type Table = keyof typeof FORMER

/** Rejects if the table of an earlier development version has rows: what they tell would be forgotten in silence. */
export async function refuseFormer(query: Query, table: Table): Promise<void> {
  const former = FORMER[table]
  // It is missing, as a rule, or not for this user.
  const found = await query(`SELECT 1 AS former FROM ${former} LIMIT 1`, []).catch(() => undefined)
  if (found === undefined || found.rows.length === 0) return
  throw new AckhookError(
    'store_unavailable',
    `the table ${former} is that of an earlier version of @ackhook/sql, and is not empty: ${table} has replaced it, and does not read it. Let the version that wrote it finish its events, then DROP TABLE ${former}`,
  )
}

/** Runs one of this package's own statements. Rejects with the fix if a table or a column of it is missing. */
export async function withTables<R>(dialect: Dialect, statement: () => Promise<R>): Promise<R> {
  try {
    return await statement()
  } catch (cause) {
    throw namingTables(dialect, cause)
  }
}

/** Returns the error with the fix if a table or a column of this package is missing, and another one as it is. */
export function namingTables(dialect: Dialect, cause: unknown): unknown {
  const fix = missingTable(cause, dialect)
  return fix === undefined ? cause : new AckhookError('store_unavailable', fix, { cause })
}

/** Returns the fix for an error about a table, or `undefined` for another error. */
export function missingTable(error: unknown, dialect: Dialect): string | undefined {
  if (!isMissingTable(error)) return undefined
  return `a table or a column of @ackhook/sql is missing: add what 'npx ackhook sql ${dialect}' prints to your migrations`
}
