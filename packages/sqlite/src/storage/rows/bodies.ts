import { traceContext } from '@ackhook/core/spi'
import type { StoredEvent } from '../../protocol/batch-result.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'

/** SQL for the `seq` of an event's body. */
export const BODY_SEQ = 'coalesce(body_seq, seq)'
/** Time of the last redrive, which alone sets `body_seq`. `null` without one. */
export const QUEUED_AT = 'iif(body_seq IS NULL, NULL, accepted_at)'

interface BodyRow {
  readonly body: Uint8Array | null
  readonly traceparent: string | null
  readonly tracestate: string | null
}

/** Reads event bodies, one at a time. */
export class Bodies {
  readonly #find: SqliteStatement

  constructor(database: SqliteDatabase) {
    this.#find = database.prepare('SELECT body, traceparent, tracestate FROM ackhook_bodies WHERE seq = ?')
  }

  /** Returns an empty body if there is none: some drivers store no bytes as NULL, and a damaged file may lack the row. */
  read(bodySeq: number): Uint8Array {
    return this.readTraced(bodySeq).body
  }

  /** Reads a body and its event's trace context. */
  readTraced(bodySeq: number): Pick<StoredEvent, 'body' | 'trace'> {
    const row = this.#find.get(bodySeq) as BodyRow | undefined
    const body = row?.body ?? new Uint8Array(0)
    const trace = traceContext(row?.traceparent, row?.tracestate)
    return trace === undefined ? { body } : { body, trace }
  }
}
