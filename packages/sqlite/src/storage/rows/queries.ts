import type { DeadLetter, InboxStats } from '@ackhook/core'
import type { Answer, Query } from '../../protocol.ts'
import type { SqliteDatabase } from '../database.ts'
import { failsAlone, faultOf } from '../fault.ts'
import { ACTIVE, AT_ONCE, BEHIND, DEAD, WAITING } from '../schema/states.ts'
import type { Lanes } from './ordering.ts'
import type { Tally } from './pending-count.ts'

/** Answers what an operator asks and does. */
export interface Queries {
  /** Throws only what the other queries and the arrivals of the transaction cannot survive either. */
  answer(query: Query, now: number): Answer
}

interface Counted {
  readonly count: number
  /** `seq` grows with the time of arrival; what is redriven arrives anew. */
  readonly first: number | null
}

const LETTER = `SELECT key, namespace, id, type, body, received_at AS receivedAt, due AS failedAt, attempts, reason
  FROM ackhook_events WHERE state = ${DEAD}`

export function isWrite(query: Query): boolean {
  return query.kind === 'redrive' || query.kind === 'discard'
}

export function createQueries(database: SqliteDatabase, lanes: Lanes, tally: Tally): Queries {
  const list = database.prepare(`${LETTER} ORDER BY due DESC, seq DESC LIMIT ?`)
  const get = database.prepare(`${LETTER} AND key = ?`)
  // The index has both. The time of arrival is in the rows, which takes a second for 200,000 of them.
  const count = database.prepare(
    'SELECT count(*) AS count, min(seq) AS first FROM ackhook_events WHERE state = ?',
  )
  const oldest = database.prepare(
    'SELECT min(accepted_at) AS oldest FROM ackhook_events WHERE seq IN (?, ?, ?)',
  )
  const redrive = database.prepare(
    `UPDATE ackhook_events SET seq = (SELECT max(seq) + 1 FROM ackhook_events), state = iif(order_key IS NULL, ${WAITING}, ${BEHIND}), due = ${AT_ONCE}, attempts = 0,
       crashes = 0, accepted_at = ?, reason = NULL WHERE key = ? AND state = ${DEAD} RETURNING seq, order_key IS NOT NULL AS isOrdered`,
  )
  const discard = database.prepare(`DELETE FROM ackhook_events WHERE key = ? AND state = ${DEAD}`)

  function countOf(state: number): Counted {
    return count.get(state) as Counted
  }

  function stats(now: number): InboxStats {
    const [waiting, behind, active] = [countOf(WAITING), countOf(BEHIND), countOf(ACTIVE)]
    const firsts = [waiting, behind, active].map(({ first }) => first)
    const { oldest: since } = oldest.get(...firsts) as { readonly oldest: number | null }
    return {
      pending: waiting.count + behind.count,
      active: active.count,
      dead: countOf(DEAD).count,
      oldestPendingMs: since === null ? 0 : Math.max(0, now - since),
    }
  }

  function redriveOne(key: string, now: number): boolean {
    const row = redrive.get(now, key) as { readonly seq: number; readonly isOrdered: number } | undefined
    if (row === undefined) return false
    tally.unfinished++
    if (row.isOrdered === 1) lanes.enter(row.seq)
    return true
  }

  function find(query: Query, now: number): InboxStats | unknown[] | DeadLetter | boolean | undefined {
    switch (query.kind) {
      case 'stats':
        return stats(now)
      case 'list':
        return list.all(query.limit)
      case 'get':
        return get.get(query.key) as DeadLetter | undefined
      case 'redrive':
        return redriveOne(query.key, now)
      case 'discard':
        return Number(discard.run(query.key).changes) === 1
    }
  }

  return {
    answer(query, now) {
      try {
        return { value: find(query, now) }
      } catch (error) {
        if (failsAlone(error)) return faultOf(error)
        throw error
      }
    },
  }
}
