import type { Admission, Arrival } from '../engine/protocol.ts'
import type { SqliteDatabase } from './database.ts'
import { sqliteCode, TOO_BIG } from './fault.ts'
import type { Lanes } from './lanes.ts'
import { BEHIND, DEAD, DONE, WAITING } from './states.ts'
import type { Tally } from './tally.ts'

/** Takes in what arrived. */
export interface Arrivals {
  admit(arrival: Arrival, body: Uint8Array, capacity: number, now: number): Admission
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
       (key, state, due, fingerprint, accepted_at, received_at, id, type, namespace, order_key, order_at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`,
  )
  const find = database.prepare('SELECT seq, state, due, fingerprint FROM ackhook_events WHERE key = ?')
  const remove = database.prepare('DELETE FROM ackhook_events WHERE seq = ?')

  function store(arrival: Arrival, body: Uint8Array, now: number): boolean {
    const [, key, namespace, id, type, fingerprint, receivedAt, , orderKey, orderAt] = arrival
    const state = orderKey === null ? WAITING : BEHIND
    const { changes } = insert.run(
      key,
      state,
      now,
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
    if (Number(changes) === 0) return false
    tally.unfinished++
    lanes.advance(orderKey, now)
    return true
  }

  function admit(arrival: Arrival, body: Uint8Array, capacity: number, now: number): Admission {
    const [, key, , , , fingerprint] = arrival
    const full = tally.unfinished >= capacity
    if (!full && store(arrival, body, now)) return 'accepted'
    const known = find.get(key) as Known | undefined
    // A dead letter that comes again is somebody pressing "resend"; an id past its retention is a new one.
    const startsAnew = known?.state === DEAD || (known?.state === DONE && known.due <= now)
    if (known !== undefined && !startsAnew) {
      return known.fingerprint === fingerprint ? 'duplicate' : 'conflict'
    }
    if (full || known === undefined) return 'full'
    remove.run(known.seq)
    store(arrival, body, now)
    return 'accepted'
  }

  return {
    admit(arrival, body, capacity, now) {
      try {
        return admit(arrival, body, capacity, now)
      } catch (error) {
        // A value over SQLite's limit fails its own statement; the transaction of the others goes on.
        if (sqliteCode(error) === TOO_BIG) return 'refused'
        throw error
      }
    },
  }
}
