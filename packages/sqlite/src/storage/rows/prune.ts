import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { DONE } from '../schema/states.ts'

const PORTION = 500

const ANY = `SELECT 1 FROM ackhook_events WHERE state = ${DONE} AND due <= ? LIMIT 1`
const REMOVE = `DELETE FROM ackhook_events WHERE seq IN
  (SELECT seq FROM ackhook_events WHERE state = ${DONE} AND due <= ? ORDER BY due LIMIT ${PORTION})`

/** Forgets ids whose retention is over. */
export class Prune {
  readonly #any: SqliteStatement
  readonly #remove: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#any = database.prepare(ANY)
    this.#remove = database.prepare(REMOVE)
  }

  /** Forgets a few of them, so that no arrival waits long. Whether there may be more. */
  removeSome(now: number): boolean {
    // Asked first: a deletion that finds nothing would still lock the file.
    return this.#any.get(now) !== undefined && Number(this.#remove.run(now).changes) === PORTION
  }
}
