import type { Claim, CompleteOptions, RunCount } from '../dedupe-store.ts'
import type { GuardedStore } from '../memory/guarded-store.ts'

export interface LeaseKeeperParts {
  readonly store: GuardedStore
  readonly key: string
  readonly leaseMs: number
  readonly newToken: () => string
}

/** Time for which an event's runs are counted: no engine keeps a message for longer than 14 days. */
const COUNT_FOR_MS = 1_209_600_000

/** The lease of one event while its attempt runs. */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts
  #token: string
  /** Monotonic time in milliseconds until which the lease certainly holds. */
  #until = 0
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts
    this.#token = parts.newToken()
  }

  /** Claims the lease. `undefined` if the store fails. */
  async claim(): Promise<Claim | undefined> {
    const { store, key, leaseMs } = this.#parts
    const askedAt = performance.now()
    try {
      const claim = await store.claim(key, this.#token, { leaseMs, countForMs: COUNT_FOR_MS })
      this.#until = askedAt + leaseMs
      return claim
    } catch {
      // Observed by the guarded store.
      return undefined
    }
  }

  /** Renews the lease at a third of its duration until `stop`. */
  keep(onLost: () => void): void {
    this.#timer = setInterval(() => void this.#renew(onLost), this.#parts.leaseMs / 3)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  complete(completion: CompleteOptions): Promise<boolean> {
    return Promise.resolve(this.#parts.store.complete(this.#parts.key, this.#token, completion))
  }

  /**
   * Releases the lease, so that the next attempt need not wait until it expires. `runs`: what the next claim returns.
   * Never rejects.
   */
  async release(runs?: RunCount): Promise<void> {
    const kept = runs && { ...runs, countForMs: COUNT_FOR_MS }
    try {
      await this.#parts.store.release(this.#parts.key, this.#token, kept)
    } catch {
      // Observed by the guarded store. The lease expires by itself.
    }
  }

  endsWithin(ms: number): boolean {
    return performance.now() + ms >= this.#until
  }

  async #renew(onLost: () => void): Promise<void> {
    const { store, key, leaseMs, newToken } = this.#parts
    const askedAt = performance.now()
    try {
      if (!(await store.extend(key, this.#token, leaseMs))) {
        if (this.#timer === undefined) return
        // The lease can vanish without a new owner: the store restarted empty, or this process was suspended.
        this.#token = newToken()
        const claim = await store.claim(key, this.#token, { leaseMs, countForMs: COUNT_FOR_MS })
        if (claim.outcome !== 'claimed') {
          this.stop()
          onLost()
          return
        }
      }
      this.#until = askedAt + leaseMs
    } catch {
      // Observed by the guarded store. The next round finds out who owns the lease.
    }
  }
}
