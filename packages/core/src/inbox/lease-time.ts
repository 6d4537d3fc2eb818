/** A moment on two clocks, both in milliseconds. A suspended machine stops the first; an operator can set the second. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** Whether a lease is held now. `unknown`: the engine or store did not say, or had no room, and it may still be. */
export type Held = 'held' | 'lost' | 'unknown'

/** Reads both clocks now. Read it just before the request that takes or renews a lease is sent. */
export function momentNow(): Moment {
  return { monotonic: performance.now(), wall: Date.now() }
}

/** Milliseconds from one moment to another, by the clock that says more. Never negative. */
export function elapsedSince(then: Moment, now: Moment): number {
  return Math.max(now.monotonic - then.monotonic, now.wall - then.wall, 0)
}

/**
 * How much of one lease has passed, as its holder has to assume: from the moment its take or renewal was sent, since the
 * store may have applied it at once, and by the larger of monotonic and wall time. A handler begins only if
 * `isPastHalf()` is false, or after a renewal. A wall clock that is set back changes nothing; one that is set forward
 * costs at most one renewal.
 */
export class LeaseTime {
  readonly leaseMs: number
  readonly #now: () => Moment
  #sentAt: Moment

  /** @param sentAt - When the take was sent. Default: now. */
  constructor(leaseMs: number, sentAt?: Moment, now: () => Moment = momentNow) {
    this.leaseMs = leaseMs
    this.#now = now
    this.#sentAt = sentAt ?? now()
  }

  /** When the take, or the last renewal that succeeded, was sent. */
  get sentAt(): Moment {
    return this.#sentAt
  }

  /** A renewal that was sent then has succeeded. One that was sent earlier than the known one changes nothing. */
  renewed(sentAt: Moment): void {
    // Read at the same moment on both clocks, so either tells which was later; only the monotonic one never goes back.
    if (sentAt.monotonic >= this.#sentAt.monotonic) this.#sentAt = sentAt
  }

  /** Milliseconds since the take, or the last renewal that succeeded, was sent. Never negative. */
  elapsed(now: Moment = this.#now()): number {
    return elapsedSince(this.#sentAt, now)
  }

  /** Milliseconds for which the lease certainly holds. 0 once it may have expired. */
  remaining(now?: Moment): number {
    return Math.max(0, this.leaseMs - this.elapsed(now))
  }

  /** Whether so much has passed that nothing may begin before a renewal. */
  isPastHalf(): boolean {
    return this.elapsed() * 2 > this.leaseMs
  }

  /** Whether another process may hold the lease now. */
  hasExpired(): boolean {
    return this.remaining() === 0
  }
}
