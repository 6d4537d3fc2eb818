import { createHash } from 'node:crypto'
import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import type { AttemptRow } from './delivery-row.ts'

/** Bytes of a long reply that stay with its attempt: enough for its message. */
const SHORT_BYTES = 1024

const TABLES = `
CREATE TABLE long_replies (hash BLOB PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE attempt_replies (
  seq INTEGER NOT NULL, number INTEGER NOT NULL, hash BLOB NOT NULL, truncated INTEGER NOT NULL,
  PRIMARY KEY (seq, number)
) STRICT, WITHOUT ROWID;
`

/**
 * Keeps long replies of a log in memory: equal ones once, and all together within a limit. Beyond it, the one not received
 * for longest is dropped, and its attempts keep its beginning. They do not count as bytes of the log.
 */
export class LongReplies {
  readonly #insert: SqliteStatement
  readonly #refer: SqliteStatement
  readonly #drop: SqliteStatement
  readonly #forget: SqliteStatement
  readonly #read: SqliteStatement
  readonly #maxBytes: number
  /** Lengths by hash, the one received last at the end. */
  readonly #kept = new Map<string, number>()
  #bytes = 0

  constructor(database: SqliteDatabase, maxBytes: number) {
    this.#maxBytes = maxBytes
    database.exec(TABLES)
    this.#insert = database.prepare('INSERT OR REPLACE INTO long_replies VALUES (?, ?)')
    this.#refer = database.prepare('INSERT INTO attempt_replies VALUES (?, ?, ?, ?)')
    this.#drop = database.prepare('DELETE FROM long_replies WHERE hash = ?')
    this.#forget = database.prepare('DELETE FROM attempt_replies WHERE seq = ?')
    this.#read = database.prepare(
      `SELECT number, body, truncated FROM attempt_replies JOIN long_replies USING (hash) WHERE seq = ?`,
    )
  }

  /** Keeps an attempt's reply if it is long, and returns the attempt with its beginning. Needs a transaction. */
  store(attempt: AttemptRow): AttemptRow {
    const { seq, number, reply_body: body, truncated } = attempt
    if (body.length <= SHORT_BYTES) return attempt
    const hash = createHash('sha256').update(body).digest()
    const name = hash.toString('base64')
    const isKnown = this.#kept.delete(name)
    this.#kept.set(name, body.length)
    if (!isKnown) {
      this.#insert.run(hash, body)
      this.#bytes += body.length
      this.#makeRoom()
    }
    this.#refer.run(seq, number, hash, truncated)
    return { ...attempt, reply_body: body.slice(0, SHORT_BYTES), truncated: 1 }
  }

  /** Returns attempts of a delivery with their whole replies, as far as they are kept. */
  restore(seq: number, attempts: readonly AttemptRow[]): readonly AttemptRow[] {
    const found = this.#read.all(seq) as Pick<
      AttemptRow & { body: Uint8Array },
      'number' | 'body' | 'truncated'
    >[]
    const whole = new Map(found.map(row => [row.number, row]))
    return attempts.map(attempt => {
      const row = whole.get(attempt.number)
      return row === undefined ? attempt : { ...attempt, reply_body: row.body, truncated: row.truncated }
    })
  }

  /** Forgets which replies a delivery got. Those stay until the limit drops them: others may have got them as well. */
  forget(seq: number): void {
    this.#forget.run(seq)
  }

  /** Notes that the log was emptied, with its tables. */
  cleared(): void {
    this.#kept.clear()
    this.#bytes = 0
  }

  #makeRoom(): void {
    for (const [name, length] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return
      this.#kept.delete(name)
      this.#drop.run(Buffer.from(name, 'base64'))
      this.#bytes -= length
    }
  }
}

/** Tables that a log with long replies has besides its own. */
export const REPLY_TABLES = ['long_replies', 'attempt_replies'] as const
