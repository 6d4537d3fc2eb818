import type { SqliteDatabase } from './database.ts'
import { ACTIVE, BEHIND, WAITING } from './states.ts'

/** Keeps the events of one key one at a time. */
export interface Lanes {
  /** To be called whenever a row of this key came behind the others, or left. */
  advance(orderKey: string | null, now: number): void
}

interface Head {
  readonly seq: number
  readonly state: number
  readonly attempts: number
  readonly orderAt: number
}

interface Next {
  readonly seq: number
  readonly orderAt: number
}

/**
 * Of the rows of one key at most one is waiting or active, and the others are behind it: so handing out never
 * has to look at keys, however many rows of one key there are. What waits for a retry keeps its place.
 */
export function createLanes(database: SqliteDatabase): Lanes {
  const head = database.prepare(
    `SELECT seq, state, attempts, order_at AS orderAt FROM ackhook_events
     WHERE order_key = ? AND state IN (${WAITING}, ${ACTIVE}) LIMIT 1`,
  )
  const next = database.prepare(
    `SELECT seq, order_at AS orderAt FROM ackhook_events
     WHERE order_key = ? AND state = ${BEHIND} ORDER BY order_at, seq LIMIT 1`,
  )
  const move = database.prepare('UPDATE ackhook_events SET state = ?, due = ? WHERE seq = ?')

  return {
    advance(orderKey, now) {
      if (orderKey === null) return
      const first = next.get(orderKey) as Next | undefined
      if (first === undefined) return
      const holder = head.get(orderKey) as Head | undefined
      if (holder !== undefined) {
        const untouched = holder.state === WAITING && holder.attempts === 0
        if (!untouched || holder.orderAt <= first.orderAt) return
        move.run(BEHIND, now, holder.seq)
      }
      move.run(WAITING, now, first.seq)
    },
  }
}
