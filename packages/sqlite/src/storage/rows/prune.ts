import type { SqliteDatabase } from '../database.ts'
import { DONE } from '../schema/states.ts'

/** Forgets ids whose retention is over. */
export interface Prune {
  /** Forgets a few of them, so that no arrival waits long. Whether there may be more. */
  bite(now: number): boolean
}

const BITE = 500

export function createPrune(database: SqliteDatabase): Prune {
  const any = database.prepare(`SELECT 1 FROM ackhook_events WHERE state = ${DONE} AND due <= ? LIMIT 1`)
  const remove = database.prepare(
    `DELETE FROM ackhook_events WHERE seq IN
       (SELECT seq FROM ackhook_events WHERE state = ${DONE} AND due <= ? ORDER BY due LIMIT ${BITE})`,
  )
  return {
    bite(now) {
      // Asked first: a deletion that finds nothing would still lock the file.
      return any.get(now) !== undefined && Number(remove.run(now).changes) === BITE
    },
  }
}
