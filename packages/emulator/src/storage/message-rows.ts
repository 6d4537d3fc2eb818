import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import { LIMITS } from '../shapes/settings.ts'
import type { DeliveryPage } from './delivery-query.ts'

/** A row of `messages`. */
export interface MessageRow {
  readonly seq: number
  readonly id: string
  readonly workspace: string
  readonly direction: 'outbound' | 'inbound'
  readonly channel: string
  /** Recipient or sender. */
  readonly number: string
  readonly template: string | null
  /** JSON of an outbound message's variables, or of an inbound one's text. */
  readonly content: string
  readonly state: string
  readonly created_at: number
  readonly updated_at: number
}

const BYTES = 'length(CAST(content AS BLOB))'

/** Stores messages of `POST /v1/messages`, and inbound ones. The oldest are removed beyond the limits. */
export class MessageRows {
  readonly #insert: SqliteStatement
  readonly #prune: SqliteStatement
  readonly #byId: SqliteStatement
  readonly #newest: SqliteStatement
  readonly #oldest: SqliteStatement
  readonly #update: SqliteStatement
  readonly #oldestSize: SqliteStatement
  /** Total bytes of all contents. */
  #bytes: number

  constructor(database: SqliteDatabase) {
    this.#insert = database.prepare(
      `INSERT INTO messages (id, workspace, direction, channel, number, template, content, state, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#prune = database.prepare('DELETE FROM messages WHERE seq <= ?')
    this.#byId = database.prepare('SELECT * FROM messages WHERE id = ?')
    this.#newest = database.prepare('SELECT * FROM messages WHERE seq < ? ORDER BY seq DESC LIMIT ?')
    this.#oldest = database.prepare('SELECT * FROM messages WHERE seq > ? ORDER BY seq LIMIT ?')
    this.#oldestSize = database.prepare(`SELECT seq, ${BYTES} AS bytes FROM messages ORDER BY seq LIMIT 1`)
    const sum = database.prepare(`SELECT coalesce(sum(${BYTES}), 0) AS bytes FROM messages`).get()
    this.#bytes = (sum as { readonly bytes: number }).bytes
    this.#update = database.prepare('UPDATE messages SET state = ?, updated_at = ? WHERE id = ?')
  }

  insert(row: Omit<MessageRow, 'seq'>): void {
    const { lastInsertRowid } = this.#insert.run(
      ...[row.id, row.workspace, row.direction, row.channel, row.number, row.template],
      ...[row.content, row.state, row.created_at, row.updated_at],
    )
    this.#bytes += Buffer.byteLength(row.content)
    this.#removeOldest(Number(lastInsertRowid))
  }

  /** Resets the byte count after all messages have been removed. */
  cleared(): void {
    this.#bytes = 0
  }

  /** Removes the oldest messages beyond the limits of number and bytes. */
  #removeOldest(newest: number): void {
    for (;;) {
      const { seq, bytes } = this.#oldestSize.get() as { readonly seq: number; readonly bytes: number }
      if (seq > newest - LIMITS.messages && this.#bytes <= LIMITS.messagesBytes) return
      this.#prune.run(seq)
      this.#bytes -= bytes
    }
  }

  byId(id: string): MessageRow | undefined {
    return this.#byId.get(id) as MessageRow | undefined
  }

  page({ after, limit, oldestFirst = false }: DeliveryPage): readonly MessageRow[] {
    const rows = oldestFirst
      ? this.#oldest.all(after ?? 0, limit)
      : this.#newest.all(after ?? Number.MAX_SAFE_INTEGER, limit)
    return rows as MessageRow[]
  }

  update(id: string, state: string, now: number): void {
    this.#update.run(state, now, id)
  }
}
