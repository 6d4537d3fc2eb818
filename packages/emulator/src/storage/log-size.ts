import type { SqliteDatabase } from '@ackhook/sqlite/driver'
import type { AttemptRow } from './delivery-row.ts'

/** SQL expression for the bytes counted by {@link attemptBytes}. */
export const ATTEMPT_BYTES =
  'length(reply_body) + coalesce(length(body), 0) + length(headers) + length(reply_headers)'

/** Counts an attempt's stored bytes: the request, unless it is the event itself, and the reply. */
export function attemptBytes({ reply_body, body, headers, reply_headers }: AttemptRow): number {
  return reply_body.length + (body?.length ?? 0) + headers.length + reply_headers.length
}

/** Tracks the bytes of all events, requests and replies in the log. Counting them would read all rows. */
export class LogSize {
  #bytes: number

  constructor(database: SqliteDatabase) {
    const sums = `SELECT (SELECT coalesce(sum(bytes), 0) FROM deliveries)
      + (SELECT coalesce(sum(${ATTEMPT_BYTES}), 0) FROM attempts) AS bytes`
    this.#bytes = (database.prepare(sums).get() as { readonly bytes: number }).bytes
  }

  get bytes(): number {
    return this.#bytes
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  /** Restores the size from before a transaction that was rolled back, or 0 for an empty log. */
  set(bytes: number): void {
    this.#bytes = bytes
  }
}
