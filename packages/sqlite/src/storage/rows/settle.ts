import { crashPolicy } from '@ackhook/core/spi'
import type { Lease, Settlement } from '../../protocol.ts'
import type { SqliteDatabase } from '../database.ts'
import { ACTIVE, AT_ONCE, DEAD, DONE, WAITING } from '../schema/states.ts'
import type { Lanes } from './ordering.ts'
import type { Tally } from './pending-count.ts'

/** Records what became of attempts. Every change asks for the token: a late owner can change nothing. */
export interface Settlements {
  apply(settlement: Settlement, now: number): boolean
  isHeld(lease: Lease): boolean
  renew(lease: Lease, leaseMs: number, now: number): boolean
}

interface LeasedRow {
  readonly isOrdered: number
  /** In a row, before this lease. */
  readonly crashes: number
}

const HELD = `seq = ? AND token = ? AND state = ${ACTIVE}`

export function createSettlements(database: SqliteDatabase, lanes: Lanes, tally: Tally): Settlements {
  // Always another number, also by a clock that stands still: that it moves is what others see.
  const renewal = database.prepare(`UPDATE ackhook_events SET due = max(due + 1, ?) WHERE ${HELD}`)
  const held = database.prepare(
    `SELECT order_key IS NOT NULL AS isOrdered, crashes FROM ackhook_events WHERE ${HELD}`,
  )
  // What is kept of a handled event: its id. The bytes are the bulk of a row.
  const complete = database.prepare(
    `UPDATE ackhook_events SET state = ${DONE}, due = ?, token = NULL, body = NULL, reason = NULL,
       type = '', namespace = '', order_key = NULL, order_at = NULL WHERE seq = ?`,
  )
  // Nearly all of them: without an order there is nobody to let go ahead, and one statement does.
  const completeAlone = database.prepare(
    `UPDATE ackhook_events SET state = ${DONE}, due = ?, token = NULL, body = NULL, reason = NULL,
       type = '', namespace = '' WHERE ${HELD} AND order_key IS NULL`,
  )
  const retry = database.prepare(
    `UPDATE ackhook_events SET state = ${WAITING}, due = ?, token = NULL, crashes = ?, reason = ? WHERE seq = ?`,
  )
  const bury = database.prepare(
    `UPDATE ackhook_events SET state = ${DEAD}, due = ?, token = NULL, reason = ? WHERE seq = ?`,
  )
  const release = database.prepare(
    `UPDATE ackhook_events SET state = ${WAITING}, due = ${AT_ONCE}, token = NULL,
       attempts = attempts - ?, crashes = ? WHERE seq = ?`,
  )

  function change(settlement: Settlement, { crashes }: LeasedRow, now: number): void {
    const { seq } = settlement
    const isAttempt = crashPolicy(crashes) === 'run'
    switch (settlement.kind) {
      case 'complete':
        complete.run(settlement.forgetAt, seq)
        break
      case 'retry':
        retry.run(dueAfter(settlement.delayMs, now), isAttempt ? 0 : crashes, settlement.reason, seq)
        break
      case 'bury':
        bury.run(settlement.failedAt, settlement.reason, seq)
        break
      case 'release': {
        const isUntried = isAttempt && !settlement.begun
        release.run(isUntried ? 1 : 0, isAttempt && settlement.begun ? 0 : crashes, seq)
      }
    }
  }

  return {
    apply(settlement, now) {
      const { kind, seq, token } = settlement
      if (kind === 'complete' && Number(completeAlone.run(settlement.forgetAt, seq, token).changes) === 1) {
        tally.unfinished--
        return true
      }
      const row = held.get(seq, token) as LeasedRow | undefined
      if (row === undefined) return false
      if (kind === 'complete' || kind === 'bury') {
        tally.unfinished--
        if (row.isOrdered === 1) lanes.leave(seq)
      }
      change(settlement, row, now)
      return true
    },
    isHeld: ({ seq, token }) => held.get(seq, token) !== undefined,
    renew: ({ seq, token }, leaseMs, now) => Number(renewal.run(now + leaseMs, seq, token).changes) === 1,
  }
}

function dueAfter(delayMs: number, now: number): number {
  return delayMs === 0 ? AT_ONCE : now + delayMs
}
