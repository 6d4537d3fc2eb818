import type { Admission, Arrival } from '../../protocol.ts'
import type { SqliteDatabase } from '../database.ts'
import { failsAlone, faultOf, sqliteCode, TOO_BIG } from '../fault.ts'
import { ACTIVE, AT_ONCE, BEHIND, DEAD, DONE, WAITING } from '../schema/states.ts'
import type { Lanes } from './ordering.ts'
import type { Tally } from './pending-count.ts'

/** Takes in what arrived. */
export interface Arrivals {
  /** `lease`: for an event that runs at once; it is stored as it would be after being handed out. */
  admit(arrival: Arrival, body: Uint8Array, capacity: number, now: number, lease: FirstLease | null): Admitted
}

/** The lease of an event that never waited. */
export interface FirstLease {
  readonly token: string
  readonly until: number
}

interface Admitted {
  readonly admission: Admission
  /** Of the row that was stored. */
  readonly seq?: number
}

interface Known {
  readonly seq: number
  readonly state: number
  readonly due: number
  readonly fingerprint: number
}

export function createArrivals(database: SqliteDatabase, lanes: Lanes, tally: Tally): Arrivals {
  const insert = database.prepare(
    `INSERT INTO ackhook_events
       (key, state, due, attempts, token, fingerprint, accepted_at, received_at, id, type, namespace,
        order_key, order_at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
  )
  const find = database.prepare('SELECT seq, state, due, fingerprint FROM ackhook_events WHERE key = ?')
  const remove = database.prepare('DELETE FROM ackhook_events WHERE seq = ?')

  function store(
    arrival: Arrival,
    body: Uint8Array,
    now: number,
    lease: FirstLease | null,
  ): Admitted | undefined {
    const [, key, namespace, id, type, fingerprint, receivedAt, , orderKey, orderAt] = arrival
    const { changes, lastInsertRowid } = insert.run(
      key,
      stateOf(orderKey, lease),
      lease?.until ?? AT_ONCE,
      lease === null ? 0 : 1,
      lease?.token ?? null,
      fingerprint,
      now,
      receivedAt,
      id,
      type,
      namespace,
      orderKey,
      orderAt,
      body,
    )
    if (Number(changes) === 0) return undefined
    tally.unfinished++
    const seq = Number(lastInsertRowid)
    if (orderKey !== null) lanes.enter(seq)
    return { admission: 'accepted', seq }
  }

  function admit(
    arrival: Arrival,
    body: Uint8Array,
    capacity: number,
    now: number,
    lease: FirstLease | null,
  ): Admitted {
    const [, key, , , , fingerprint] = arrival
    const full = tally.unfinished >= capacity
    const stored = full ? undefined : store(arrival, body, now, lease)
    if (stored !== undefined) return stored
    const known = find.get(key) as Known | undefined
    // A dead letter that comes again is somebody pressing "resend"; an id past its retention is a new one.
    const startsAnew = known?.state === DEAD || (known?.state === DONE && known.due <= now)
    if (known !== undefined && !startsAnew) {
      return { admission: known.fingerprint === fingerprint ? 'duplicate' : 'conflict' }
    }
    if (full || known === undefined) return { admission: 'full' }
    return replace(known.seq, arrival, body, now, lease)
  }

  /** What cannot be stored must leave the dead letter that it was to replace. */
  function replace(
    seq: number,
    arrival: Arrival,
    body: Uint8Array,
    now: number,
    lease: FirstLease | null,
  ): Admitted {
    database.exec('SAVEPOINT ackhook_replace')
    try {
      remove.run(seq)
      const stored = store(arrival, body, now, lease)
      database.exec('RELEASE ackhook_replace')
      return stored ?? { admission: 'full' }
    } catch (error) {
      if (failsAlone(error)) database.exec('ROLLBACK TO ackhook_replace; RELEASE ackhook_replace')
      throw error
    }
  }

  return {
    admit(arrival, body, capacity, now, lease) {
      try {
        return admit(arrival, body, capacity, now, lease)
      } catch (error) {
        if (failsAlone(error)) return { admission: { refused: reasonOf(error) } }
        throw error
      }
    },
  }
}

function reasonOf(error: unknown): string {
  if (sqliteCode(error) === TOO_BIG)
    return 'SQLite cannot hold a body of this size: lower the option bodyLimit'
  return `SQLite cannot store this event: ${faultOf(error).message}`
}

function stateOf(orderKey: string | null, lease: FirstLease | null): number {
  if (lease !== null) return ACTIVE
  return orderKey === null ? WAITING : BEHIND
}
