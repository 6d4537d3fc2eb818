import type { SqliteDatabase } from '../database.ts'
import { ACTIVE, AT_ONCE, BEHIND, WAITING } from './states.ts'

// The rows of one key are together in the index, which holds no finished ones.
const HEADLESS = `SELECT
    (SELECT seq FROM ackhook_events AS first WHERE first.order_key = lane.order_key AND state = ${BEHIND}
     ORDER BY order_at, seq LIMIT 1) AS seq
  FROM ackhook_events AS lane WHERE order_key IS NOT NULL
  GROUP BY order_key HAVING max(state = ${BEHIND}) AND NOT max(state IN (${WAITING}, ${ACTIVE}))`

/**
 * Lets one event go ahead of every key that has lost its head: earlier releases did that to keys with a NUL on
 * Node 22, and one of them may still work on this file.
 */
export function repairLanes(database: SqliteDatabase): void {
  // Asked first: an update that finds nothing would still lock the file.
  if (database.prepare(`${HEADLESS} LIMIT 1`).get() === undefined) return
  database.exec(`UPDATE ackhook_events SET state = ${WAITING}, due = ${AT_ONCE} WHERE seq IN (${HEADLESS})`)
}
