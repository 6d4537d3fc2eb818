import type { Batch, Lease, Settlement } from '../../protocol/batch.ts'
import type { BatchResult, TakenRow } from '../../protocol/batch-result.ts'
import { isFault } from '../../protocol/fault.ts'

interface OwnLease extends Pick<TakenRow, 'group' | 'isRetry'> {
  readonly seq: number
}

/** Counts of rows that run in this process. */
export interface Running {
  readonly byGroup: Map<string, number>
  retries: number
}

/**
 * Leases that this process holds and renews. Separate from the connection, which may be replaced while handlers run.
 */
export class OwnLeases {
  readonly #byToken = new Map<string, OwnLease>()

  get size(): number {
    return this.#byToken.size
  }

  has(token: string): boolean {
    return this.#byToken.has(token)
  }

  /** Counts the rows that run here once `settlements` are recorded. */
  runningAfter(settlements: readonly Settlement[]): Running {
    const running: Running = { byGroup: new Map(), retries: 0 }
    const ended = new Set<string>()
    for (const one of settlements) if (one.kind !== 'complete' || one.next === undefined) ended.add(one.token)
    for (const [token, lease] of this.#byToken) if (!ended.has(token)) count(running, lease)
    return running
  }

  /** Called after the transaction: an uncommitted change changes no lease. */
  track(batch: Batch, { settled, taken }: BatchResult): void {
    const isRecorded = !isFault(settled)
    for (const [index, settlement] of batch.settlements.entries()) {
      const { kind, token } = settlement
      const lease = this.#byToken.get(token)
      // A row to give back is not renewed, even if that fails: it is tried again until the lease expires.
      if (isRecorded || kind === 'release') this.#byToken.delete(token)
      if (kind !== 'complete' || settlement.next === undefined) continue
      if (isRecorded && settled[index] === true)
        this.#byToken.set(settlement.next.token, { ...lease, seq: settlement.next.seq })
    }
    for (const { token, seq } of batch.checks)
      if (!this.#byToken.has(token)) this.#byToken.set(token, { seq })
    if (isFault(taken)) return
    for (const { token, ...lease } of taken) this.#byToken.set(token, leaseOf(lease))
  }

  /** Drops leases for which `isHeld` returns false. */
  retain(isHeld: (lease: Lease) => boolean): void {
    for (const [token, { seq }] of this.#byToken) {
      if (!isHeld({ seq, token })) this.#byToken.delete(token)
    }
  }
}

function leaseOf({ seq, group, isRetry }: Omit<TakenRow, 'token'>): OwnLease {
  return { seq, ...(group !== undefined && { group }), ...(isRetry && { isRetry }) }
}

/** Counts one more row that runs. */
export function count(running: Running, { group, isRetry }: Pick<TakenRow, 'group' | 'isRetry'>): void {
  if (isRetry) running.retries++
  if (group !== undefined) running.byGroup.set(group, (running.byGroup.get(group) ?? 0) + 1)
}
