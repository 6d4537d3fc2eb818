import type { SqliteDatabase } from '../database.ts'
import { ACTIVE, AT_ONCE, BEHIND, WAITING } from '../schema/states.ts'

/** Keeps the events of one key one at a time. */
export interface Lanes {
  /** To be called for a row that came behind the others of its key. */
  enter(seq: number): void
  /** To be called before the row that runs leaves its key: the next one goes ahead. */
  leave(seq: number): void
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

/** Keys never leave SQL: not every driver reads a text back as it was bound. */
const OF_LANE = 'order_key = (SELECT order_key FROM ackhook_events WHERE seq = ?)'
const IS_HEAD = `state IN (${WAITING}, ${ACTIVE})`

/**
 * Of the rows of one key at most one is waiting or active, and the others are behind it: so handing out never
 * has to look at keys, however many rows of one key there are. What waits for a retry keeps its place.
 */
export function createLanes(database: SqliteDatabase): Lanes {
  const head = database.prepare(
    `SELECT seq, state, attempts, order_at AS orderAt FROM ackhook_events
     WHERE ${OF_LANE} AND ${IS_HEAD} LIMIT 1`,
  )
  const otherHead = database.prepare(
    `SELECT 1 FROM ackhook_events WHERE ${OF_LANE} AND ${IS_HEAD} AND seq <> ? LIMIT 1`,
  )
  const next = database.prepare(
    `SELECT seq, order_at AS orderAt FROM ackhook_events
     WHERE ${OF_LANE} AND state = ${BEHIND} ORDER BY order_at, seq LIMIT 1`,
  )
  const move = database.prepare(`UPDATE ackhook_events SET state = ?, due = ${AT_ONCE} WHERE seq = ?`)

  return {
    enter(seq) {
      const first = next.get(seq) as Next | undefined
      if (first === undefined) return
      const holder = head.get(seq) as Head | undefined
      if (holder !== undefined) {
        const untouched = holder.state === WAITING && holder.attempts === 0
        if (!untouched || holder.orderAt <= first.orderAt) return
        move.run(BEHIND, holder.seq)
      }
      move.run(WAITING, first.seq)
    },
    leave(seq) {
      const first = next.get(seq) as Next | undefined
      if (first === undefined || otherHead.get(seq, seq) !== undefined) return
      move.run(WAITING, first.seq)
    },
  }
}
