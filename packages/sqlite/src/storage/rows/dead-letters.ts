import type { DeadLetter } from '@ackhook/core'
import type { BrowsedEvent } from '@ackhook/core/spi'
import type { ListRequest } from '../../protocol/batch.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { AT_ONCE, BEHIND, DEAD, WAITING } from '../schema/states.ts'
import { BODY_SEQ, Bodies } from './bodies.ts'
import type { Counts } from './counts.ts'
import type { OrderedKeys } from './ordered-keys.ts'

const COLUMNS = `key, namespace, id, type, received_at AS receivedAt, due AS failedAt, attempts,
    coalesce(reason, '') AS reason,
    due || ':' || seq AS cursor`
const NEWEST = `WHERE state = ${DEAD} AND (due, seq) < (?, ?) ORDER BY due DESC, seq DESC LIMIT ?`
const OLDEST = `WHERE state = ${DEAD} AND (due, seq) > (?, ?) ORDER BY due, seq LIMIT ?`
// `length` does not read the body.
const SIZED = `SELECT ${COLUMNS}, ${BODY_SEQ} AS bodySeq,
    (SELECT length(body) FROM ackhook_bodies AS b WHERE b.seq = coalesce(e.body_seq, e.seq)) AS bytes
  FROM ackhook_events AS e`
const GET = `SELECT ${COLUMNS}, ${BODY_SEQ} AS bodySeq FROM ackhook_events WHERE key = ? AND state = ${DEAD}`
// The body stays in place: moving one of 900 KB took 20 ms.
const REDRIVE = `UPDATE ackhook_events SET seq = (SELECT max(seq) + 1 FROM ackhook_events), body_seq = ${BODY_SEQ},
    state = iif(order_key IS NULL, ${WAITING}, ${BEHIND}), due = ${AT_ONCE}, attempts = 0, crashes = 0,
    accepted_at = ?, reason = NULL
  WHERE key = ? AND state = ${DEAD} RETURNING seq, order_key IS NOT NULL AS isOrdered`
const DISCARD = `DELETE FROM ackhook_events WHERE key = ? AND state = ${DEAD}`

/** Cursors before and after every letter. */
const ENDS = { newest: { failedAt: 9e15, seq: 0 }, oldest: { failedAt: -9e15, seq: 0 } }

interface Row extends Omit<DeadLetter, 'body'> {
  readonly bodySeq: number
}

interface SizedRow extends Row {
  readonly bytes: number | null
}

/** The file's dead letters. */
export class DeadLetters {
  readonly #keys: OrderedKeys
  readonly #counts: Counts
  readonly #list: Readonly<Record<ListRequest['order'], SqliteStatement>>
  readonly #browse: SqliteStatement
  readonly #get: SqliteStatement
  readonly #redrive: SqliteStatement
  readonly #discard: SqliteStatement
  readonly #bodies: Bodies

  constructor(database: SqliteDatabase, keys: OrderedKeys, counts: Counts) {
    this.#keys = keys
    this.#counts = counts
    this.#list = {
      newest: database.prepare(`${SIZED} ${NEWEST}`),
      oldest: database.prepare(`${SIZED} ${OLDEST}`),
    }
    this.#browse = database.prepare(`SELECT ${COLUMNS} FROM ackhook_events ${NEWEST}`)
    this.#get = database.prepare(GET)
    this.#redrive = database.prepare(REDRIVE)
    this.#discard = database.prepare(DISCARD)
    this.#bodies = new Bodies(database)
  }

  /** Reads at least one letter, unless its body exceeds `maxBytes`; then as many as fit into `bytes`. */
  list({ order, after = ENDS[order], limit, bytes, maxBytes }: ListRequest): readonly DeadLetter[] {
    const rows = this.#list[order].all(after.failedAt, after.seq, limit) as SizedRow[]
    const letters: DeadLetter[] = []
    let total = 0
    for (const { bytes: length, ...row } of rows) {
      total += length ?? 0
      if (total > (letters.length === 0 ? maxBytes : bytes)) break
      letters.push(this.#withBody(row))
    }
    return letters
  }

  /** Lists the newest first, without bodies. */
  browse({ after = ENDS.newest, limit }: Pick<ListRequest, 'after' | 'limit'>): readonly BrowsedEvent[] {
    return this.#browse.all(after.failedAt, after.seq, limit) as BrowsedEvent[]
  }

  get(key: string): DeadLetter | undefined {
    const row = this.#get.get(key) as Row | undefined
    return row && this.#withBody(row)
  }

  #withBody({ bodySeq, ...letter }: Row): DeadLetter {
    return { ...letter, body: this.#bodies.read(bodySeq) }
  }

  /** Returns whether there was one. */
  redrive(key: string, now: number): boolean {
    const row = this.#redrive.get(now, key) as
      | { readonly seq: number; readonly isOrdered: number }
      | undefined
    if (row === undefined) return false
    this.#counts.change('dead', -1)
    this.#counts.change('unhandled', 1)
    if (row.isOrdered === 1) this.#keys.enter(row.seq)
    return true
  }

  /** Returns whether there was one. */
  discard(key: string): boolean {
    if (Number(this.#discard.run(key).changes) === 0) return false
    this.#counts.change('dead', -1)
    return true
  }
}
