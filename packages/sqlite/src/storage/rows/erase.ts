import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { BEHIND, PARKED, WAITING } from '../schema/states.ts'
import type { Counts } from './counts.ts'
import type { OrderedKeys } from './ordered-keys.ts'

// Reads the index of keys alone: whatever state an event changes to meanwhile, its place stays.
const KEYS = 'SELECT key FROM ackhook_events WHERE key > ? ORDER BY key LIMIT ?'
const WAITS = `SELECT seq, state, postponed, order_key IS NOT NULL AS isOrdered FROM ackhook_events
  WHERE key = ? AND state IN (${WAITING}, ${PARKED}, ${BEHIND})`
const REMOVE = 'DELETE FROM ackhook_events WHERE seq = ?'

interface WaitingRow {
  readonly seq: number
  readonly state: number
  readonly postponed: number
  readonly isOrdered: number
}

/** Deletes waiting events for erasure requests. */
export class Erase {
  readonly #orderedKeys: OrderedKeys
  readonly #counts: Counts
  readonly #keys: SqliteStatement
  readonly #waits: SqliteStatement
  readonly #remove: SqliteStatement

  constructor(database: SqliteDatabase, orderedKeys: OrderedKeys, counts: Counts) {
    this.#orderedKeys = orderedKeys
    this.#counts = counts
    this.#keys = database.prepare(KEYS)
    this.#waits = database.prepare(WAITS)
    this.#remove = database.prepare(REMOVE)
  }

  keys(after: string, limit: number): readonly string[] {
    return (this.#keys.all(after, limit) as { readonly key: string }[]).map(({ key }) => key)
  }

  /** Returns whether it waited. A row that was read ahead loses its lease before it begins, or while it runs. */
  waiting(key: string): boolean {
    const row = this.#waits.get(key) as WaitingRow | undefined
    if (row === undefined) return false
    const isHead = row.isOrdered === 1 && row.state !== BEHIND
    if (isHead) this.#orderedKeys.leave(row.seq, undefined, 0)
    this.#remove.run(row.seq)
    this.#counts.change('unhandled', -1)
    if (row.postponed === 1) this.#counts.change('postponed', -1)
    return true
  }
}
