import type { TraceContext } from '@ackhook/core'
import { type Arrival, storedOrder } from '../../protocol/batch.ts'
import type { Admission } from '../../protocol/batch-result.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { failsAlone, faultOf, sqliteCode, TOO_BIG } from '../driver/sqlite-errors.ts'
import { ACTIVE, AT_ONCE, BEHIND, DEAD, WAITING } from '../schema/states.ts'
import type { Counts } from './counts.ts'
import type { OrderedKeys } from './ordered-keys.ts'

/** An event to store, and how. */
export interface NewRow {
  readonly arrival: Arrival
  /** As stored. */
  readonly group: string | null
  readonly now: number
  /** Time to which the ends of retentions are compared. */
  readonly judged: number
  /** Token of an event that runs immediately: its row is stored as already taken. */
  readonly token: string | null
  readonly leasedUntil: number
}

interface Inserted {
  readonly admission: Admission
  /** Sequence number of the row that was stored. */
  readonly seq?: number
  /** Routing token of the dead letter that the row replaced. */
  readonly mark?: number
}

interface Handled {
  readonly fingerprint: number
}

interface KnownRow extends Handled {
  readonly seq: number
  readonly state: number
  readonly mark: number
}

const INSERT = `INSERT INTO ackhook_events
    (key, state, due, attempts, token, fingerprint, accepted_at, received_at, id, type, namespace,
     order_key, order_at, group_name)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`
const INSERT_BODY = 'INSERT INTO ackhook_bodies (seq, body, traceparent, tracestate) VALUES (?, ?, ?, ?)'
const HANDLED = 'SELECT fingerprint FROM ackhook_ids WHERE key = ? AND forget_at > ?'
const FIND = 'SELECT seq, state, fingerprint, mark FROM ackhook_events WHERE key = ?'
const REMOVE = 'DELETE FROM ackhook_events WHERE seq = ?'
const MARK = 'UPDATE ackhook_events SET mark = ? WHERE seq = ?'

/** Stores arriving events unless they are known or the inbox is full. */
export class Insert {
  readonly #database: SqliteDatabase
  readonly #keys: OrderedKeys
  readonly #counts: Counts
  readonly #insert: SqliteStatement
  readonly #insertBody: SqliteStatement
  readonly #handled: SqliteStatement
  readonly #find: SqliteStatement
  readonly #remove: SqliteStatement
  readonly #mark: SqliteStatement

  constructor(database: SqliteDatabase, keys: OrderedKeys, counts: Counts) {
    this.#database = database
    this.#keys = keys
    this.#counts = counts
    this.#insert = database.prepare(INSERT)
    this.#insertBody = database.prepare(INSERT_BODY)
    this.#handled = database.prepare(HANDLED)
    this.#find = database.prepare(FIND)
    this.#remove = database.prepare(REMOVE)
    this.#mark = database.prepare(MARK)
  }

  /** Throws only errors that fail the whole transaction. */
  admit(row: NewRow, capacity: number): Inserted {
    try {
      return this.#admit(row, capacity)
    } catch (error) {
      if (failsAlone(error)) return { admission: { refused: reasonOf(error) } }
      throw error
    }
  }

  #admit(row: NewRow, capacity: number): Inserted {
    const { key, fingerprint } = row.arrival
    const handled = this.#handled.get(key, row.judged) as Handled | undefined
    if (handled !== undefined) return seenBefore(handled, fingerprint)
    const isFull = this.#counts.unhandled >= capacity
    const stored = isFull ? undefined : this.#store(row)
    if (stored !== undefined) return stored
    const known = this.#find.get(key) as KnownRow | undefined
    // A dead letter that arrives again was resent on purpose.
    if (known !== undefined && known.state !== DEAD) return seenBefore(known, fingerprint)
    if (isFull || known === undefined) return { admission: 'full' }
    return this.#replace(known, row)
  }

  /** Returns `undefined` if the key is known. */
  #store({ arrival, group, now, token, leasedUntil }: NewRow): Inserted | undefined {
    const { key, namespace, id, type, fingerprint, receivedAt, body, trace } = arrival
    const order = arrival.order && storedOrder(arrival.order)
    const { changes, lastInsertRowid } = this.#insert.run(
      key,
      stateOf(order !== undefined, token),
      token === null ? AT_ONCE : leasedUntil,
      token === null ? 0 : 1,
      token,
      fingerprint,
      now,
      Math.round(receivedAt),
      id,
      type,
      namespace,
      order?.key ?? null,
      order?.createdAt ?? null,
      group,
    )
    if (Number(changes) === 0) return undefined
    const seq = Number(lastInsertRowid)
    this.#storeBody(seq, body, trace)
    this.#counts.change('unhandled', 1)
    const waitMs = order === undefined ? 0 : this.#keys.enter(seq)
    return { admission: waitMs === 0 ? 'accepted' : { later: 'accepted', waitMs }, seq }
  }

  /** Removes the event if SQLite refuses its body: the transaction continues without it. */
  #storeBody(seq: number, body: Uint8Array, trace: TraceContext | undefined): void {
    try {
      this.#insertBody.run(seq, body, trace?.traceparent ?? null, trace?.tracestate ?? null)
    } catch (error) {
      if (failsAlone(error)) this.#remove.run(seq)
      throw error
    }
  }

  /** Replaces a dead letter, or leaves it in place if the new row cannot be stored. */
  #replace({ seq, mark, fingerprint }: KnownRow, row: NewRow): Inserted {
    this.#database.exec('SAVEPOINT ackhook_replace')
    try {
      this.#remove.run(seq)
      const stored = this.#store(row)
      this.#database.exec('RELEASE ackhook_replace')
      this.#counts.change('dead', -1)
      if (stored?.seq === undefined) return { admission: 'full' }
      if (mark > 0) this.#mark.run(mark, stored.seq)
      const isOther = fingerprint !== row.arrival.fingerprint
      return { ...stored, mark, admission: isOther ? replaced(stored.admission) : stored.admission }
    } catch (error) {
      if (failsAlone(error)) this.#database.exec('ROLLBACK TO ackhook_replace; RELEASE ackhook_replace')
      throw error
    }
  }
}

function seenBefore(known: Handled, fingerprint: number): Inserted {
  return { admission: known.fingerprint === fingerprint ? 'duplicate' : 'conflict' }
}

function replaced(admission: Admission): Admission {
  return typeof admission === 'object' && 'later' in admission
    ? { ...admission, later: 'replaced' }
    : 'replaced'
}

function reasonOf(error: unknown): string {
  if (sqliteCode(error) === TOO_BIG)
    return 'SQLite cannot store a body of this size: lower the option body.limit'
  return `SQLite cannot store this event: ${faultOf(error).message}`
}

function stateOf(isOrdered: boolean, token: string | null): number {
  if (token !== null) return ACTIVE
  return isOrdered ? BEHIND : WAITING
}
