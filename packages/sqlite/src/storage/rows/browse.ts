import type { BrowsedEvent, EventLookup } from '@ackhook/core/spi'
import type { BrowseRequest } from '../../protocol/batch.ts'
import type { SqliteDatabase, SqliteStatement } from '../driver/database.ts'
import { ACTIVE, AGAIN, AT_ONCE, BEHIND, DEAD, FIRST, PARKED, WAITING } from '../schema/states.ts'
import { BODY_SEQ, Bodies } from './bodies.ts'

interface Row extends Omit<BrowsedEvent, 'cursor' | 'body' | 'reason'> {
  readonly seq: number
  readonly state: number
  readonly due: number
  readonly reason: string | null
}

interface RowWithBody extends Row {
  readonly bodySeq: number
}

interface HandledId {
  readonly handledAt: number
  readonly rememberedUntil: number
}

const COLUMNS = 'key, namespace, id, type, received_at AS receivedAt, attempts, reason, seq, state, due'
const page = (where: string): string =>
  `SELECT * FROM (SELECT seq FROM ackhook_events ${where} AND seq > ?1 ORDER BY seq LIMIT ?2)`
// Each part reads an index in `seq` order, and no other row.
const PENDING = `SELECT ${COLUMNS} FROM ackhook_events WHERE seq IN (
    ${page(`WHERE state = ${WAITING} AND due = ${FIRST}`)} UNION ALL
    ${page(`WHERE state = ${WAITING} AND due = ${AT_ONCE}`)} UNION ALL
    ${page(`INDEXED BY ackhook_events_delayed WHERE state = ${WAITING} AND due > ${AT_ONCE}`)} UNION ALL
    ${page(`WHERE state = ${WAITING} AND due = ${AGAIN}`)} UNION ALL
    ${page(`WHERE state = ${PARKED} AND due = ${FIRST}`)} UNION ALL
    ${page(`WHERE state = ${PARKED} AND due = ${AT_ONCE}`)} UNION ALL
    ${page(`WHERE state = ${PARKED} AND due = ${AGAIN}`)} UNION ALL
    ${page(`WHERE state = ${BEHIND} AND due = ${AT_ONCE}`)}
  ) ORDER BY seq LIMIT ?2`
// Sorts at most as many rows as all processes run at a time.
const RUNNING = `SELECT ${COLUMNS} FROM ackhook_events WHERE state = ${ACTIVE} AND seq > ? ORDER BY seq LIMIT ?`
const HANDLED = `SELECT handled_at AS handledAt, forget_at AS rememberedUntil FROM ackhook_ids
  WHERE key = ? AND forget_at > ?`
const ONE = `SELECT ${COLUMNS}, ${BODY_SEQ} AS bodySeq FROM ackhook_events WHERE key = ?`

/** Reads waiting and running events for operators. */
export class Browse {
  readonly #pending: SqliteStatement
  readonly #active: SqliteStatement
  readonly #one: SqliteStatement
  readonly #handled: SqliteStatement
  readonly #bodies: Bodies

  constructor(database: SqliteDatabase) {
    this.#pending = database.prepare(PENDING)
    this.#active = database.prepare(RUNNING)
    this.#one = database.prepare(ONE)
    this.#handled = database.prepare(HANDLED)
    this.#bodies = new Bodies(database)
  }

  /** Lists the oldest first, without bodies. */
  page(state: 'pending' | 'active', after: number, limit: number, now: number): readonly BrowsedEvent[] {
    const statement = state === 'pending' ? this.#pending : this.#active
    return (statement.all(after, limit) as Row[]).map(row => toEvent(row, now))
  }

  /** Reads one event with its body. */
  one(key: string, state: BrowseRequest['state'], now: number): readonly BrowsedEvent[] {
    const found = this.lookup(key, now)
    return found.state === state && found.event !== undefined ? [found.event] : []
  }

  /** Reads one event in any state, as of one moment. */
  lookup(key: string, now: number): EventLookup {
    const row = this.#one.get(key) as RowWithBody | undefined
    if (row !== undefined) {
      const state = row.state === DEAD ? 'dead' : row.state === ACTIVE ? 'active' : 'pending'
      return { state, event: { ...toEvent(row, now), ...this.#bodies.readTraced(row.bodySeq) } }
    }
    const id = this.#handled.get(key, now) as HandledId | undefined
    if (id === undefined) return { state: 'unknown' }
    return { state: 'handled', rememberedUntil: id.rememberedUntil, handledAt: id.handledAt }
  }
}

function toEvent(row: Row, now: number): BrowsedEvent {
  const { key, namespace, id, type, receivedAt, attempts, seq, state, due, reason } = row
  const waits = state === WAITING && due > AT_ONCE
  return {
    key,
    namespace,
    id,
    type,
    receivedAt,
    attempts,
    cursor: state === DEAD ? `${due}:${seq}` : String(seq),
    ...(waits && { dueInMs: Math.max(0, due - now) }),
    ...(reason !== null && { reason }),
    ...(state === DEAD && { failedAt: due }),
  }
}
