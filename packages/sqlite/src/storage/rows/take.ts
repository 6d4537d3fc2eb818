import { crashDelayMs, crashPolicy } from '@ackhook/core/spi'
import type { StoredEvent, TakenRow, Terms } from '../../protocol.ts'
import type { SqliteDatabase } from '../database.ts'
import type { Lapsed, Lapses } from '../leases/expired.ts'
import { ACTIVE, AT_ONCE, FIRST, WAITING } from '../schema/states.ts'

/** Hands out rows, each with a lease. */
export interface HandOut {
  /** Whether {@link take} would find anything. Only reads. */
  isDue(terms: Terms, now: number): boolean
  /** `fresh`: by key, the arrivals of this transaction: the taker has their bytes. */
  take(limit: number, fresh: ReadonlyMap<string, number>, terms: Terms, now: number): TakenRow[]
  /** New for every lease. */
  newToken(terms: Terms): string
  nextDueMs(terms: Terms, now: number): number | undefined
  /** Watches the leases of others, also while there is no slot for what they leave. Only reads. */
  watch(leaseMs: number): void
}

interface WaitingRow extends Omit<StoredEvent, 'body'> {
  readonly seq: number
  readonly attempts: number
  readonly crashes: number
  /** When its turn came. */
  readonly since: number
}

/** `owner`: what begins every token of this connection, and of no other. */
export function createHandOut(database: SqliteDatabase, lapses: Lapses, owner: string): HandOut {
  const lastDue = database.prepare(
    `SELECT due FROM ackhook_events WHERE state = ${WAITING} AND due <= ? ORDER BY due DESC LIMIT 1`,
  )
  const putBack = database.prepare(
    `UPDATE ackhook_events SET state = ${WAITING}, due = ?, token = NULL, crashes = crashes + 1
     WHERE seq = ? AND state = ${ACTIVE} AND token IS ? AND due = ?`,
  )
  const columns = `seq, key, namespace, id, type, fingerprint, received_at AS receivedAt, attempts,
       crashes`
  const atOnce = database.prepare(
    `SELECT ${columns}, iif(due = ${FIRST}, 0, accepted_at) AS since
     FROM ackhook_events WHERE state = ${WAITING} AND due <= ${AT_ONCE} ORDER BY due, seq LIMIT ?`,
  )
  const inTime = database.prepare(
    `SELECT ${columns}, due AS since FROM ackhook_events
     WHERE state = ${WAITING} AND due > ${AT_ONCE} AND due <= ? ORDER BY due, seq LIMIT ?`,
  )
  const bodyOf = database.prepare('SELECT body FROM ackhook_events WHERE seq = ?')
  const lease = database.prepare(
    `UPDATE ackhook_events SET state = ${ACTIVE}, due = ?, attempts = ?, token = ?
     WHERE seq = ?`,
  )
  const nextWaiting = database.prepare(`SELECT min(due) AS due FROM ackhook_events WHERE state = ${WAITING}`)
  let count = 0

  /** An event that takes its process down must not take down every next one: it waits longer each time. */
  function reclaim({ seq, token, due, crashes }: Lapsed, terms: Terms, now: number): void {
    const delayMs = crashDelayMs(crashes + 1, terms)
    putBack.run(delayMs === 0 ? FIRST : now + delayMs, seq, token, due)
  }

  /** A statement of many columns takes the drivers 40 µs, also when it finds nothing: not asked in vain. */
  function findWaiting(limit: number, now: number): readonly WaitingRow[] {
    const last = lastDue.get(now) as { readonly due: number } | undefined
    if (last === undefined) return []
    const first = atOnce.all(limit) as WaitingRow[]
    return last.due <= AT_ONCE ? first : merge(first, inTime.all(now, limit) as WaitingRow[], limit)
  }

  function newToken({ leaseMs }: Terms): string {
    return `${owner}:${leaseMs.toString(36)}:${(count++).toString(36)}`
  }

  return {
    isDue: (terms, now) => lapses.isAny(terms.leaseMs) || lastDue.get(now) !== undefined,
    newToken,
    watch: leaseMs => lapses.look(leaseMs),
    take(limit, fresh, terms, now) {
      for (const one of lapses.drain(terms.leaseMs)) reclaim(one, terms, now)
      return findWaiting(limit, now).map((row): TakenRow => {
        const { seq, key, namespace, id, type, fingerprint, receivedAt, attempts, crashes } = row
        const decision = crashPolicy(crashes)
        const attempt = decision === 'run' ? attempts + 1 : attempts
        const token = newToken(terms)
        lease.run(now + terms.leaseMs, attempt, token, seq)
        const ref = fresh.get(key)
        if (ref !== undefined) return { seq, token, attempt, decision, ref }
        const kept = bodyOf.get(seq) as { readonly body: Uint8Array | null }
        // No bytes at all are stored as NULL by some drivers.
        const body = kept.body ?? new Uint8Array(0)
        const event = { key, namespace, id, type, fingerprint, receivedAt, body }
        return { seq, token, attempt, decision, event }
      })
    },
    nextDueMs(terms, now) {
      const { due } = nextWaiting.get() as { readonly due: number | null }
      const nextMs = due === null ? Number.POSITIVE_INFINITY : Math.max(0, due - now)
      const soonestMs = Math.min(nextMs, lapses.nextLookMs(terms.leaseMs))
      return soonestMs === Number.POSITIVE_INFINITY ? undefined : soonestMs
    },
  }
}

/** Of two lists, each in its order, the first `limit` of both: whoever waits longer for a slot goes first. */
function merge(
  one: readonly WaitingRow[],
  other: readonly WaitingRow[],
  limit: number,
): readonly WaitingRow[] {
  const merged: WaitingRow[] = []
  for (let left = 0, right = 0; merged.length < limit; ) {
    const [first, second] = [one[left], other[right]]
    if (second === undefined || (first !== undefined && first.since <= second.since)) {
      if (first === undefined) break
      merged.push(first)
      left++
    } else {
      merged.push(second)
      right++
    }
  }
  return merged
}
