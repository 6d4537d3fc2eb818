import { letProcessEnd } from '../../lib/let-process-end.ts'
import { createTokens } from '../../lib/tokens.ts'
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
  readonly newToken: () => string = createTokens()
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
    if (entry.phase !== 'held') return
    const { store, leaseMs, onLost } = this.#parts
    const askedAt = performance.now()
    const { token } = entry
    try {
      const isExtended = await store.extend(entry.key, token, leaseMs)
      // Another token: an earlier, slow round has taken the lease again.
      if (isExtended || entry.token !== token || entry.phase !== 'held' || (await this.#takeAgain(entry)))
        entry.leasedUntil = askedAt + leaseMs
      else if (entry.phase === 'held') onLost(entry)
    } catch {
      // Observed by the guarded store. The lease may expire meanwhile; the next round finds out who owns it.
    }
  }

  /**
   * Returns whether the lease is ours again, or may still be. A lease can vanish without a new owner: the store
   * restarted empty, or this process was suspended. The new token is stored before the claim: the store may apply a
   * claim whose reply is lost, and the next round must recognize that lease as ours.
   */
  async #takeAgain(entry: Entry): Promise<boolean> {
    const { store, leaseMs } = this.#parts
    const token = this.newToken()
    entry.token = token
    const claim = await store.claim(entry.key, token, { leaseMs })
    if (claim.outcome === 'in_flight' || claim.outcome === 'completed') return false
    if (claim.outcome === 'claimed' && entry.phase === 'finished') await store.release(entry.key, token)
    return true
  }
}
