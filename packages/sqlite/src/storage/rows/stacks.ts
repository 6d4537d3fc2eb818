import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { DEAD } from '../schema/states.ts'

/** Groups whose stack is kept. A group that has been dead-lettered for the longest time loses its own. */
const MAX_STACKS = 1000

const KEEP = `INSERT INTO ackhook_stacks (letter_group, stack) VALUES (?, ?)
  ON CONFLICT (letter_group) DO UPDATE SET stack = excluded.stack WHERE stack <> excluded.stack`
const DROP_OLD = `DELETE FROM ackhook_stacks WHERE rowid <= (SELECT max(rowid) - ${MAX_STACKS} FROM ackhook_stacks)`
const DROP_UNUSED = `DELETE FROM ackhook_stacks WHERE letter_group = ?1
  AND NOT EXISTS (SELECT 1 FROM ackhook_events WHERE state = ${DEAD} AND letter_group = ?1)`

/** One stack for each group of dead letters: its letters have the same error. */
export class Stacks {
  readonly #keep: SqliteStatement
  readonly #dropOld: SqliteStatement
  readonly #dropUnused: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#keep = database.prepare(KEEP)
    this.#dropOld = database.prepare(DROP_OLD)
    this.#dropUnused = database.prepare(DROP_UNUSED)
  }

  keep(group: string, stack: string): void {
    this.#keep.run(group, stack)
    this.#dropOld.run()
  }

  /** Called after a letter of the group is gone. */
  dropUnused(group: string): void {
    this.#dropUnused.run(group)
  }
}
