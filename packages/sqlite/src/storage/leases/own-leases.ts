import type { Batch, Lease } from '../../protocol/batch.ts'
import type { BatchResult } from '../../protocol/batch-result.ts'
import { isFault } from '../../protocol/fault.ts'

/**
 * Leases that this process holds and renews. Separate from the connection, which may be replaced while handlers run.
 */
export class OwnLeases {
  readonly #seqByToken = new Map<string, number>()

  get size(): number {
    return this.#seqByToken.size
  }

  has(token: string): boolean {
    return this.#seqByToken.has(token)
  }

  /** Called after the transaction: an uncommitted change changes no lease. */
  track(batch: Batch, { settled, taken }: BatchResult): void {
    const isRecorded = !isFault(settled)
    for (const [index, settlement] of batch.settlements.entries()) {
      const { kind, token } = settlement
      // A failed release is not repeated: its lease expires.
      if (isRecorded || kind === 'release') this.#seqByToken.delete(token)
      if (kind !== 'complete' || settlement.next === undefined) continue
      if (isRecorded && settled[index] === true)
        this.#seqByToken.set(settlement.next.token, settlement.next.seq)
    }
    for (const { token, seq } of batch.checks) this.#seqByToken.set(token, seq)
    if (isFault(taken)) return
    for (const { token, seq } of taken) this.#seqByToken.set(token, seq)
  }

  /** Drops leases for which `isHeld` returns false. */
  retain(isHeld: (lease: Lease) => boolean): void {
    for (const [token, seq] of this.#seqByToken) {
      if (!isHeld({ seq, token })) this.#seqByToken.delete(token)
    }
  }
}
