import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { DEAD, DONE } from '../schema/states.ts'

const REFRESH_MS = 1000

const DATA_VERSION = 'PRAGMA data_version'
const COUNT = `SELECT (SELECT count(*) FROM ackhook_events WHERE state < ${DONE})
  + (SELECT count(*) FROM ackhook_events WHERE state > ${DEAD}) AS pending`

/** How many rows are neither done nor dead, kept along so that no arrival has to count them. */
export class PendingCount {
  value = 0
  readonly #dataVersion: SqliteStatement
  readonly #count: SqliteStatement
  #seenVersion: unknown
  #refreshedAt = 0

  constructor(database: SqliteDatabase) {
    this.#dataVersion = database.prepare(DATA_VERSION)
    this.#count = database.prepare(COUNT)
  }

  /** Counts again when another process has written to the file: not more than once a second. */
  refresh(now: number): void {
    if (Math.abs(now - this.#refreshedAt) < REFRESH_MS) return
    this.#refreshedAt = now
    const { data_version: version } = this.#dataVersion.get() as { readonly data_version: unknown }
    if (version === this.#seenVersion) return
    this.#seenVersion = version
    this.value = (this.#count.get() as { readonly pending: number }).pending
  }
}
