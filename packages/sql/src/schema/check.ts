import { AckhookError } from '@ackhook/core'
import type { Dialect, Query } from '../database/dialect.ts'
import { isMissingTable } from '../database/transient.ts'

/** Columns that each table must have. */
const COLUMNS = {
  ackhook_once: 'event_id, handler, namespace, done_at',
  ackhook_newest: 'scope, entity, state_at, state_rank, event_id',
  ackhook_dedupe: 'event_key, token, until_ms, expires_ms, fingerprint, lapses, attempts',
} as const

export type Table = keyof typeof COLUMNS

/** Reads nothing from a table, and rejects if it lacks a column. */
export async function checkTable(query: Query, table: Table): Promise<void> {
  await query(`SELECT ${COLUMNS[table]} FROM ${table} WHERE 1 = 0`, [])
}

/** Runs one of this package's own statements. Rejects with the fix if a table or a column of it is missing. */
export async function withTables<R>(dialect: Dialect, statement: () => Promise<R>): Promise<R> {
  try {
    return await statement()
  } catch (cause) {
    const fix = missingTable(cause, dialect)
    throw fix === undefined ? cause : new AckhookError('store_unavailable', fix, { cause })
  }
}

/** Returns the fix for an error about a table, or `undefined` for another error. */
export function missingTable(error: unknown, dialect: Dialect): string | undefined {
  if (!isMissingTable(error)) return undefined
  return `a table or a column of @ackhook/sql is missing: add what 'npx ackhook sql ${dialect}' prints to your migrations`
}
