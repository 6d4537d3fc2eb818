import { setTimeout } from 'node:timers/promises'
import { AckhookError, ConfigurationError } from '@ackhook/core'
import { isError } from '@ackhook/core/spi'
import type { Database, OpenTransaction } from '../database/database.ts'
import type { Query } from '../database/dialect.ts'
import { isLocked, isTransient, isUnreachable, isWrongServer } from '../database/transient.ts'
import { missingTable } from './check.ts'

/** Ends the transaction of a probe. */
class Undone extends Error {}

/** Another process starts at the same time, and its statements hold locks that these need. */
export class Occupied extends Error {}

const MAX_ATTEMPTS = 5

/**
 * Runs the statements in a transaction that is rolled back. `isGone` tells whether nothing of them is there afterward: a
 * database that commits each statement by itself would keep half of a handler that fails.
 */
export async function probe(
  database: Database,
  statements: (transaction: OpenTransaction) => Promise<void>,
  isGone: (query: Query) => Promise<boolean>,
): Promise<void> {
  const settings = { isolation: undefined, library: undefined, signal: new AbortController().signal }
  const query: Query = (text, params) => database.query(text, params)
  for (let attempt = 1; ; attempt++) {
    const error = await database
      .transaction(async (_tx, transaction) => {
        await statements(transaction)
        throw new Undone()
      }, settings)
      .catch((error: unknown) => error)
    if (error instanceof Undone) break
    if (!isOccupied(error) || attempt === MAX_ATTEMPTS) throw error
    await setTimeout(Math.random() * 200)
  }
  if (!(await isGone(query)))
    throw new ConfigurationError('db', 'keeps what is rolled back: its transactions cannot be used')
  if (database.dialect === 'mysql') await requireAutocommit(query)
}

function isOccupied(error: unknown): boolean {
  return error instanceof Occupied || isTransient(error) || isLocked(error)
}

/** Without it, a lone statement is reported and undone later. */
async function requireAutocommit(query: Query): Promise<void> {
  const { rows } = await query('SELECT IF(@@autocommit = 1, 1, 0) AS autocommit', [])
  if (Number(rows[0]?.['autocommit']) !== 1)
    throw new ConfigurationError(
      'db',
      'has autocommit = 0, with which a statement outside of a transaction is not kept: set it to 1 for this user or pool',
    )
}

/** Returns the error that a start rejects with, or `undefined` if the database did not answer or was busy. */
export function refusalOf(error: unknown, { dialect }: Database): unknown {
  if (error instanceof AckhookError) return error
  const fix = missingTable(error, dialect)
  if (fix !== undefined) return new AckhookError('store_unavailable', fix, { cause: error })
  if (isOccupied(error) || isUnreachable(error)) return undefined
  const reason = isError(error) ? error.message : String(error)
  const message = isWrongServer(error)
    ? `the database takes no writes: it is a standby, or read-only (${reason})`
    : `the database refuses a statement of @ackhook/sql, with which no handler can succeed: ${reason}. ${FIX[dialect]}`
  return new AckhookError('store_unavailable', message, { cause: error })
}

const FIX = {
  postgres:
    'Grant SELECT, INSERT, UPDATE and DELETE on its tables, and if the role does not own them, a policy: CREATE POLICY app ON … TO your_role USING (true)',
  mysql:
    'Grant SELECT, INSERT, UPDATE and DELETE on its tables, and leave EMPTY_STRING_IS_NULL out of sql_mode',
  sqlite: 'Open the file for writing, by a library whose transactions can wait',
} as const
