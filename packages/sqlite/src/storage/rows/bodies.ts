import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** The `seq` of the body of an event. */
export const BODY_SEQ = 'coalesce(body_seq, seq)'

/** Reads the bodies of events, one at a time. */
export class Bodies {
  readonly #body: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#body = database.prepare('SELECT body FROM ackhook_bodies WHERE seq = ?')
  }

  /** Empty where there is none: some drivers store no bytes as NULL, and a damaged file may lack the row. */
  read(bodySeq: number): Uint8Array {
    const row = this.#body.get(bodySeq) as { readonly body: Uint8Array | null } | undefined
    return row?.body ?? new Uint8Array(0)
  }
}
