import { randomUUID } from 'node:crypto'
import type { EffectsHost } from '@ackhook/core'
import { isError, withDeadline } from '@ackhook/core/spi'
import type { Database, OpenTransaction } from '../database/database.ts'
import type { Dialect, Query } from '../database/dialect.ts'
import { refuseFormer } from '../schema/check.ts'
import { whyForgotten } from '../schema/durability.ts'
import { Occupied, probe, refusalOf } from '../schema/probe.ts'
import { whoElseWrites } from '../schema/writers.ts'
import { keeperStatements } from './mark-keeper.ts'
import { deleteMarks, Reservation } from './marks.ts'
import { record, type StateValues } from './newest.ts'

const CHECK_MS = 5000
/** A transaction that nobody can end should not hold its event for longer. */
const LONGEST_SECONDS = 600

/**
 * Checks what effects need: that each statement works and is undone with its transaction, a pool that is large enough, and a
 * server that ends the transactions of a host that vanished. Rejects if no handler can succeed, and warns of the rest.
 */
export async function checkAtStart(database: Database, { concurrency, logger }: EffectsHost): Promise<void> {
  const { poolSize, unheard, untested } = database
  if (untested !== undefined) logger.info({ code: 'sql_untested' }, untested)
  const warn = (code: string, message: string): void => logger.warn({ code }, message)
  if (poolSize !== undefined && concurrency > poolSize)
    logger.warn(
      { code: 'sql_pool_small', concurrency, connections: poolSize },
      `concurrency is ${concurrency}, and the database pool has ${poolSize} connections: a handler of once needs one while it runs, so that further ones wait, and so does the application. Set concurrency below the size of the pool.`,
    )
  if (unheard !== undefined)
    warn(
      'sql_unheard',
      `${unheard} does not listen to the connections that it has taken, and keeps its pool to itself: a lost one ends the process unless your code has pool.on('connect', client => client.on('error', () => {})).`,
    )
  try {
    const limit = { operation: 'the check of sqlEffects', ms: CHECK_MS }
    const { unlimited, forgotten, writers } = await withDeadline(check(database), limit)
    if (unlimited !== undefined)
      warn(
        'sql_transactions_unlimited',
        `If a host vanishes, the database keeps its open transactions, and their events wait until it notices: ${unlimited}.`,
      )
    if (forgotten !== undefined)
      warn(
        'sql_may_forget',
        `A crash of the database may forget what handlers of once have written, with their marks, while the inbox has recorded the event as handled: ${forgotten}.`,
      )
    if (writers !== undefined) warn('sql_open_to_others', writers)
  } catch (error) {
    const refusal = refusalOf(error, database)
    if (refusal !== undefined) throw refusal
    logger.warn(
      { code: 'sql_unchecked', err: error },
      `The tables of @ackhook/sql could not be checked: ${isError(error) ? error.message : String(error)}. Handlers fail, and are repeated, until the database works.`,
    )
  }
}

interface Findings {
  readonly unlimited: string | undefined
  readonly forgotten: string | undefined
  readonly writers: string | undefined
}

async function check(database: Database): Promise<Findings> {
  const query: Query = (text, params) => database.query(text, params)
  await refuseFormer(query, 'ackhook_marks')
  await refuseFormer(query, 'ackhook_states')
  await probeEffects(database)
  const { dialect, sharesConnection } = database
  return {
    forgotten: await whyForgotten(text => database.query(text), dialect, 'ackhook_marks'),
    // In the same process there is no other host.
    unlimited: sharesConnection ? undefined : await whyUnlimited(database),
    writers: await whoElseWrites(database, 'ackhook_marks'),
  }
}

/** Runs each statement of effects, on rows that nobody else has, and undoes them. */
async function probeEffects(database: Database): Promise<void> {
  const { dialect } = database
  const id = `ackhook start ${randomUUID()}`
  const mark = { eventId: id, handler: id, namespace: '' }
  const state: StateValues = {
    scope: '',
    entity: id,
    state_at: Date.now() * 1000,
    state_rank: 0,
    event_id: '',
  }
  const statements = async (transaction: OpenTransaction): Promise<void> => {
    const { query } = transaction
    const reservation = new Reservation(dialect, mark, { isFirst: true })
    const first = await reservation.claim(transaction)
    if (first === 'busy') throw new Occupied('another process is starting')
    await reservation.finish(transaction)
    const second = await new Reservation(dialect, mark, { isFirst: false }).claim(transaction)
    const isNewest = await record(transaction, state, ['state_at', 'state_rank'])
    const older = await record(transaction, { ...state, state_at: 1 }, ['state_at', 'state_rank'])
    const { old, renew } = keeperStatements(dialect)
    await query(renew, [id, '', 0])
    const found = (await query(old, [id, -60_000])).rows.length
    // Not the deletion by age, whose locks another process that starts would wait for.
    const isDeleted = await deleteMarks(dialect, query, [id, ''])
    const outcome = [first, second, isNewest, older, found, isDeleted].join()
    if (outcome !== 'claimed,done,true,false,1,true')
      throw new Error(`its statements did not have the effects that they have elsewhere (${outcome})`)
  }
  await probe(database, statements, async query => {
    const text = `SELECT 1 AS kept FROM ackhook_states WHERE scope = '' AND entity = ?${dialect === 'postgres' ? '::text' : ''}`
    return (await query(text, [id])).rows.length === 0
  })
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
