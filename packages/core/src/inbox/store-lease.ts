import type { MaybePromise } from '../lib/maybe-promise.ts'
import type { Claim, ClaimOptions, CompleteOptions, DedupeStore, KeptRuns, RunCount } from './dedupe-store.ts'
import { type Held, LeaseTime, type Moment, momentNow } from './lease-time.ts'

export interface StoreLeaseParts {
  readonly store: Pick<DedupeStore, 'claim' | 'extend' | 'complete' | 'release'>
  readonly key: string
  /** Checksum of the event's body. */
  readonly fingerprint: number
  readonly leaseMs: number
  readonly newToken: () => string
  /** Set if the store counts the event's runs: see {@link ClaimOptions}. */
  readonly countForMs?: number
}

/** The lease of one event in a dedupe store, from its claim until the event is recorded, released or lost. */
export class StoreLease {
  readonly #parts: StoreLeaseParts
  /** How much of the lease has passed. */
  readonly time: LeaseTime
  /** Proves the lease. Replaced when a lease that vanished is taken again. */
  #token: string
  /** Whether a claim with this token had no reply: the store may still apply it. */
  #isInDoubt = false
  #hasEnded = false
  /** Count that the next claim returns, once released. */
  #kept: KeptRuns | undefined

  /** The lease counts from here: create it just before the claim. */
  constructor(parts: StoreLeaseParts) {
    this.#parts = parts
    this.time = new LeaseTime(parts.leaseMs)
    this.#token = parts.newToken()
  }

  /** Rejects or throws if the store fails. */
  claim(): MaybePromise<Claim> {
    return this.#parts.store.claim(this.#parts.key, this.#token, this.#claimOptions())
  }

  /** Renews the lease, or takes it again if it vanished without a new owner. Never rejects. */
  async renew(): Promise<Held> {
    const { store, key, leaseMs } = this.#parts
    const sentAt = momentNow()
    const token = this.#token
    try {
      if (await store.extend(key, token, leaseMs)) return this.#renewed(sentAt)
      // Another token: an earlier, slow renewal is taking the lease again.
      if (this.#hasEnded || this.#token !== token) return 'unknown'
      return await this.#takeAgain()
    } catch {
      // Observed by the guarded store. The next renewal finds out who owns the lease.
      return 'unknown'
    }
  }

  /** Resolves to whether the lease was still ours, or nobody's. Rejects or throws if the store fails. */
  complete(options: Omit<CompleteOptions, 'fingerprint'>): MaybePromise<boolean> {
    const { store, key, fingerprint } = this.#parts
    const { retentionMs, namespace, replayableMs } = options
    return store.complete(key, this.#token, { retentionMs, fingerprint, namespace, replayableMs })
  }

  /**
   * Ends the lease, so that the next attempt need not wait until it expires. `runs`: what the next counted claim
   * returns. Never rejects.
   */
  async release(runs?: RunCount): Promise<void> {
    const { countForMs } = this.#parts
    this.#hasEnded = true
    this.#kept = runs && countForMs !== undefined ? { ...runs, countForMs } : undefined
    try {
      await this.#release(this.#token)
    } catch {
      // Observed by the guarded store, which tries it again.
    }
  }

  /** Called when nothing needs the lease any more. A claim still under way is then released. */
  end(): void {
    this.#hasEnded = true
  }

  /**
   * A lease can vanish without a new owner: the store restarted empty, or this process was suspended. The new token is
   * kept before the claim, and until one has a reply: the store may apply a claim late, and the next one must recognize
   * that lease as ours.
   */
  async #takeAgain(): Promise<Held> {
    const { store, key, newToken } = this.#parts
    const sentAt = momentNow()
    if (!this.#isInDoubt) this.#token = newToken()
    const token = this.#token
    this.#isInDoubt = true
    const { outcome } = await store.claim(key, token, { ...this.#claimOptions(), isRunning: true })
    this.#isInDoubt = false
    // Nobody would renew or release it, and it would keep a redelivery away.
    if (this.#hasEnded && outcome === 'claimed') await this.#release(token)
    if (this.#hasEnded || outcome === 'full') return 'unknown'
    return outcome === 'claimed' ? this.#renewed(sentAt) : 'lost'
  }

  #claimOptions(): ClaimOptions {
    const { leaseMs, fingerprint, countForMs } = this.#parts
    return countForMs === undefined ? { leaseMs, fingerprint } : { leaseMs, fingerprint, countForMs }
  }

  #release(token: string): MaybePromise<boolean> {
    const { store, key } = this.#parts
    return this.#kept === undefined ? store.release(key, token) : store.release(key, token, this.#kept)
  }

  #renewed(sentAt: Moment): 'held' {
    this.time.renewed(sentAt)
    return 'held'
  }
}
