import { AckhookError, type EffectsHost } from '@ackhook/core'
import { isError, withDeadline } from '@ackhook/core/spi'
import type { Database } from '../database/database.ts'
import type { Dialect } from '../database/dialect.ts'
import { checkTable, missingTable } from '../schema/check.ts'
import { whyForgotten } from '../schema/durability.ts'

const CHECK_MS = 5000
/** A transaction that nobody can end should not hold its event for longer. */
const LONGEST_SECONDS = 600

/**
 * Checks what effects need: the tables, a pool that is large enough, and a server that ends the transactions of a host
 * that vanished. Rejects if a table or a column is missing, and warns of the rest.
 */
export async function checkAtStart(database: Database, { concurrency, logger }: EffectsHost): Promise<void> {
  const { poolSize } = database
  if (poolSize !== undefined && concurrency > poolSize)
    logger.warn(
      { code: 'sql_pool_small', concurrency, connections: poolSize },
      `concurrency is ${concurrency}, and the database pool has ${poolSize} connections: a handler of once needs one while it runs, so that further ones wait, and so does the application. Set concurrency below the size of the pool.`,
    )
  try {
    const limit = { operation: 'the check of sqlEffects', ms: CHECK_MS }
    const { unlimited, forgotten } = await withDeadline(check(database), limit)
    if (unlimited !== undefined)
      logger.warn(
        { code: 'sql_transactions_unlimited' },
        `If a host vanishes, the database keeps its open transactions, and their events wait until it notices: ${unlimited}.`,
      )
    if (forgotten !== undefined)
      logger.warn(
        { code: 'sql_may_forget' },
        `A crash of the database may forget what handlers of once have written, with their marks, while the inbox has recorded the event as handled: ${forgotten}.`,
      )
  } catch (error) {
    const fix = missingTable(error, database.dialect)
    if (fix !== undefined) throw new AckhookError('store_unavailable', fix, { cause: error })
    logger.warn(
      { code: 'sql_unchecked', err: error },
      `The tables of @ackhook/sql could not be checked: ${isError(error) ? error.message : String(error)}. Handlers fail, and are repeated, until the database works.`,
    )
  }
}

interface Findings {
  readonly unlimited: string | undefined
  readonly forgotten: string | undefined
}

async function check(database: Database): Promise<Findings> {
  await checkTable((text, params) => database.query(text, params), 'ackhook_once')
  await checkTable((text, params) => database.query(text, params), 'ackhook_newest')
  const { dialect, sharesConnection } = database
  const forgotten = await whyForgotten(text => database.query(text), dialect, 'ackhook_once')
  // In the same process there is no other host.
  return { forgotten, unlimited: sharesConnection ? undefined : await whyUnlimited(database) }
}

async function whyUnlimited(database: Database): Promise<string | undefined> {
  for (const question of QUESTIONS[database.dialect]) {
    // A variable that this server does not have, or may not show: the next question asks without it.
    const result = await database.query(question).catch(() => undefined)
    const reason = result?.rows[0]?.['reason']
    if (typeof reason === 'string') return reason
    if (result !== undefined) return undefined
  }
  return undefined
}

const QUESTIONS: Readonly<Record<Dialect, readonly string[]>> = {
  // Without an address, the client is on the server's own host.
  postgres: [
    `SELECT CASE WHEN inet_client_addr() IS NOT NULL AND idle.setting::bigint = 0 AND alive.setting::bigint > ${LONGEST_SECONDS}
  THEN 'idle_in_transaction_session_timeout is 0, and tcp_keepalives_idle ' || alive.setting || ' s; set the first to 5min' END AS reason
FROM pg_settings AS idle, pg_settings AS alive
WHERE idle.name = 'idle_in_transaction_session_timeout' AND alive.name = 'tcp_keepalives_idle'`,
  ],
  mysql: [
    // MariaDB's own limit, and the one that MySQL has as well.
    `SELECT IF(LEAST(@@wait_timeout, IF(@@idle_transaction_timeout = 0, @@wait_timeout, @@idle_transaction_timeout)) > ${LONGEST_SECONDS},
  CONCAT('idle_transaction_timeout is ', @@idle_transaction_timeout, ', and wait_timeout ', @@wait_timeout, ' s; set the first to 300'), NULL) AS reason`,
    `SELECT IF(@@wait_timeout > ${LONGEST_SECONDS}, CONCAT('wait_timeout is ', @@wait_timeout, ' s; set it to 300'), NULL) AS reason`,
  ],
  sqlite: [],
}
