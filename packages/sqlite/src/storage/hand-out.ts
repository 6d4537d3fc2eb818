import type { Abandoned, TakenRow, Terms } from '../engine/protocol.ts'
import type { SqliteDatabase } from './database.ts'
import type { Lanes } from './lanes.ts'
import { ACTIVE, DEAD, WAITING } from './states.ts'
import type { Tally } from './tally.ts'

/** Hands out rows, each with a lease. */
export interface HandOut {
  /** Whether {@link take} would find anything. Only reads. */
  isDue(now: number): boolean
  /** `fresh`: by key, the arrivals of this transaction: the taker has their bytes. */
  take(limit: number, fresh: ReadonlyMap<string, number>, terms: Terms, now: number): Taken
  nextDueMs(now: number): number | undefined
}

interface Taken {
  readonly taken: TakenRow[]
  readonly abandoned: Abandoned[]
}

interface Lapsed extends Abandoned {
  readonly seq: number
  readonly orderKey: string | null
}

/** How many lapsed leases are looked at in one transaction. */
const LAPSED_LIMIT = 200

/** `owner` begins every token of this connection: leases of its own do not lapse, whatever the clock says. */
export function createHandOut(database: SqliteDatabase, lanes: Lanes, tally: Tally, owner: string): HandOut {
  const lapsedWhere = `state = ${ACTIVE} AND due <= ? AND substr(token, 1, ${owner.length}) <> ?`
  const anyWaiting = database.prepare(
    `SELECT 1 FROM ackhook_events WHERE state = ${WAITING} AND due <= ? LIMIT 1`,
  )
  const anyLapsed = database.prepare(`SELECT 1 FROM ackhook_events WHERE ${lapsedWhere} LIMIT 1`)
  const lapsed = database.prepare(
    `SELECT seq, id, type, namespace, attempts, order_key AS orderKey FROM ackhook_events
     WHERE ${lapsedWhere} LIMIT ${LAPSED_LIMIT}`,
  )
  const putBack = database.prepare(
    `UPDATE ackhook_events SET state = ${WAITING}, due = ?, token = NULL WHERE seq = ?`,
  )
  const giveUp = database.prepare(
    `UPDATE ackhook_events SET state = ${DEAD}, due = ?, token = NULL, reason = ? WHERE seq = ?`,
  )
  const waiting = database.prepare(
    `SELECT seq, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts + 1 AS attempt
     FROM ackhook_events WHERE state = ${WAITING} AND due <= ? ORDER BY due, seq LIMIT ?`,
  )
  const bodyOf = database.prepare('SELECT body FROM ackhook_events WHERE seq = ?')
  const lease = database.prepare(
    `UPDATE ackhook_events SET state = ${ACTIVE}, due = ?, attempts = attempts + 1, token = ? WHERE seq = ?`,
  )
  const nextWaiting = database.prepare(`SELECT min(due) AS due FROM ackhook_events WHERE state = ${WAITING}`)
  let count = 0

  /** An event that takes its process down must not take down every next one: it waits, and in the end is given up. */
  function reclaim(terms: Terms, now: number): Abandoned[] {
    const abandoned: Abandoned[] = []
    for (const row of lapsed.all(now, owner) as Lapsed[]) {
      const { seq, orderKey, id, type, namespace, attempts } = row
      if (attempts < terms.attempts) {
        putBack.run(now + delayAfterLapse(attempts, terms), seq)
        continue
      }
      giveUp.run(now, `LeaseLapsed: its process died or stood still in ${attempts} attempts`, seq)
      tally.unfinished--
      lanes.advance(orderKey, now)
      abandoned.push({ id, type, namespace, attempts })
    }
    return abandoned
  }

  return {
    isDue: now => anyWaiting.get(now) !== undefined || anyLapsed.get(now, owner) !== undefined,
    take(limit, fresh, terms, now) {
      const abandoned = reclaim(terms, now)
      const rows = waiting.all(now, limit) as Omit<TakenRow, 'token' | 'ref' | 'body'>[]
      const taken = rows.map((row): TakenRow => {
        const token = `${owner}${(count++).toString(36)}`
        lease.run(now + terms.leaseMs, token, row.seq)
        const ref = fresh.get(row.key)
        if (ref !== undefined) return { ...row, token, ref }
        const { body } = bodyOf.get(row.seq) as { readonly body: Uint8Array | null }
        // No bytes at all are stored as NULL by some drivers.
        return { ...row, token, body: body ?? new Uint8Array(0) }
      })
      return { taken, abandoned }
    },
    nextDueMs(now) {
      const { due } = nextWaiting.get() as { readonly due: number | null }
      return due === null ? undefined : Math.max(0, due - now)
    },
  }
}

/**
 * Nothing after the first lapse: most likely a deploy. After that events that lapsed together come back apart,
 * so that the one to blame is soon alone when it takes its process down.
 */
function delayAfterLapse(attempts: number, { minDelayMs, maxDelayMs, factor }: Terms): number {
  if (attempts < 2) return 0
  return Math.round(Math.random() * Math.min(maxDelayMs, minDelayMs * factor ** (attempts - 2)))
}
