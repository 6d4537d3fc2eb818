import { letProcessEnd } from '../../lib/let-process-end.ts'
import { createTokens } from '../../lib/tokens.ts'
import type { Delivery } from '../delivery.ts'
import { StoreLease } from '../store-lease.ts'
import type { Entry } from './entry.ts'
import type { GuardedStore } from './guarded-store.ts'

export interface LeaseRenewalParts {
  readonly entries: ReadonlyMap<string, Entry>
  readonly store: GuardedStore
  readonly leaseMs: number
  /** Called for an entry that another process now owns. */
  readonly onLost: (entry: Entry) => void
}

/** Number of leases renewed before other work gets its turn. */
const SLICE = 500
/** Longer than a round takes, so that a slow round is not mistaken for a dead one. */
const SLOW_ROUND_MS = 5000

/** Renews every lease of this process at a third of its duration, while there are any. */
export class LeaseRenewal {
  readonly #newToken = createTokens()
  readonly #parts: LeaseRenewalParts
  readonly #intervalMs: number
  /** Set while a round is pending or running. */
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Time at which the timer is due, or its round last made progress. Monotonic milliseconds. */
  #dueAt = 0
  #isStopped = false

  constructor(parts: LeaseRenewalParts) {
    this.#parts = parts
    this.#intervalMs = parts.leaseMs / 3
  }

  /** Creates the lease of a new entry. Its claim must follow at once. */
  create({ key, fingerprint }: Delivery): StoreLease {
    const { store, leaseMs } = this.#parts
    return new StoreLease({ store, key, fingerprint, leaseMs, newToken: this.#newToken })
  }

  /** Schedules the renewal of a new lease, taken at the given monotonic time. */
  watch(now: number): void {
    if (this.#isStopped || this.#isUnderWay(now)) return
    const delayMs = this.#timer === undefined ? this.#intervalMs : 0
    clearTimeout(this.#timer)
    this.#dueAt = now + delayMs
    this.#timer = setTimeout(() => void this.#renewAll(), delayMs)
    // Events that wait or run keep the process alive; a lease by itself does not.
    letProcessEnd(this.#timer)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  /**
   * Returns whether a round is pending or running. On Workers a round ends with the request that set its timer, and is
   * then overdue.
   */
  #isUnderWay(now: number): boolean {
    return this.#timer !== undefined && now < this.#dueAt + Math.max(this.#intervalMs, SLOW_ROUND_MS)
  }

  async #renewAll(): Promise<void> {
    const { entries } = this.#parts
    const own = this.#timer
    const all = [...entries.values()]
    for (let from = 0; from < all.length; from += SLICE) {
      if (from > 0) await new Promise(resolve => setTimeout(resolve, 0))
      if (this.#isStopped) return
      this.#dueAt = performance.now()
      await Promise.all(all.slice(from, from + SLICE).map(entry => this.#renew(entry)))
    }
    // Another round has taken over.
    if (this.#timer !== own) return
    this.#timer = undefined
    if (entries.size > 0) this.watch(performance.now())
  }

  async #renew(entry: Entry): Promise<void> {
    if (entry.phase === 'held' && (await entry.lease?.renew()) === 'lost' && entry.phase === 'held')
      this.#parts.onLost(entry)
  }
}
