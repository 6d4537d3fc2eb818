import type { SqliteDatabase, SqliteStatement } from '@ackhook/sqlite/driver'
import { LIMITS } from '../shapes/settings.ts'
import { openDatabase } from './database.ts'
import { Deliveries } from './deliveries.ts'
import { DeliveryQuery } from './delivery-query.ts'
import { EndpointRows } from './endpoint-rows.ts'
import { LogSize } from './log-size.ts'
import { LongReplies, REPLY_TABLES } from './long-replies.ts'
import { MessageRows } from './message-rows.ts'
import { Retention } from './retention.ts'

/** The emulator's state, with one process, one connection and one thread. */
export class Storage {
  readonly deliveries: Deliveries
  readonly query: DeliveryQuery
  readonly retention: Retention
  readonly endpoints: EndpointRows
  readonly messages: MessageRows
  readonly size: LogSize
  readonly #replies: LongReplies | undefined
  readonly #database: SqliteDatabase
  readonly #readMeta: SqliteStatement
  readonly #writeMeta: SqliteStatement

  /** `maxBytes` is the limit of the log. */
  static async open(data: string, maxBytes: number): Promise<Storage> {
    // In a file, or if it is low, the limit of the log is enough.
    const isLarge = data === ':memory:' && maxBytes > 4 * LIMITS.longReplyBytes
    return new Storage(await openDatabase(data), isLarge)
  }

  private constructor(database: SqliteDatabase, boundsReplies: boolean) {
    this.#database = database
    this.size = new LogSize(database)
    this.#replies = boundsReplies ? new LongReplies(database, LIMITS.longReplyBytes) : undefined
    this.deliveries = new Deliveries(database, this.size, this.#replies)
    this.query = new DeliveryQuery(database)
    this.retention = new Retention(database, this.size, this.#replies)
    this.endpoints = new EndpointRows(database)
    this.messages = new MessageRows(database)
    this.#readMeta = database.prepare('SELECT value FROM meta WHERE key = ?')
    this.#writeMeta = database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
  }

  /** Runs `work` in a transaction, which is rolled back if `work` throws. */
  transaction<T>(work: () => T): T {
    const { bytes } = this.size
    this.#database.exec('BEGIN')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      this.size.set(bytes)
      this.#database.exec('ROLLBACK')
      throw error
    }
  }

  meta(key: string): string | undefined {
    return (this.#readMeta.get(key) as { readonly value: string } | undefined)?.value
  }

  setMeta(key: string, value: string): void {
    this.#writeMeta.run(key, value)
  }

  /** Empties the log. Delivery numbers restart at 1. */
  clearLog(): void {
    const own = this.#replies === undefined ? [] : REPLY_TABLES
    const tables = ['deliveries', 'payloads', 'attempts', 'messages', ...own]
    const clear = tables.map(table => `DELETE FROM ${table};`).join('\n')
    this.transaction(() =>
      this.#database.exec(`${clear}
        INSERT INTO delivery_text (delivery_text) VALUES ('delete-all');
        DELETE FROM sqlite_sequence;`),
    )
    this.size.set(0)
    this.messages.cleared()
    this.deliveries.cleared()
    this.#replies?.cleared()
  }

  clearEndpoints(): void {
    this.#database.exec('DELETE FROM endpoints; DELETE FROM workspaces;')
  }

  close(): void {
    // Releases the file lock explicitly: a statement not yet collected keeps the connection open.
    this.#database.exec('PRAGMA journal_mode = DELETE')
    this.#database.exec('PRAGMA locking_mode = NORMAL')
    this.meta('seed')
    this.#database.close()
  }
}
