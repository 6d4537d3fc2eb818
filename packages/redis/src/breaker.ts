/** One call that the breaker let through. */
export interface Permit {
  succeeded(): void
  failed(cause: unknown): void
}

const FIRST_REST_MS = 100
const LONGEST_REST_MS = 1000

/**
 * Circuit breaker. Opens at the first failure, unless the server has replied to another call since the failed one was
 * sent. While open, it lets one call at a time through as a probe, first after 100 ms, then at growing intervals of up
 * to a second. Any reply closes it, even a late one. It sets no timer: the next call is the probe.
 */
export class Breaker {
  /** Monotonic milliseconds. */
  readonly #now: () => number
  #answeredAt = Number.NEGATIVE_INFINITY
  /** Monotonic milliseconds at which the breaker opened, while it is open. */
  #openedAt: number | undefined
  /** True while a probe is under way. */
  #probing = false
  #restMs = FIRST_REST_MS
  #restsUntil = 0
  #cause: unknown

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The last failure. */
  get cause(): unknown {
    return this.#cause
  }

  /** Milliseconds since the first of the failures. Zero while the breaker is closed. */
  get openForMs(): number {
    return this.#openedAt === undefined ? 0 : this.#now() - this.#openedAt
  }

  /** Returns `undefined` if no call may be made now. Otherwise make the call, and report its result. */
  enter(): Permit | undefined {
    const sentAt = this.#now()
    const isProbe = this.#openedAt !== undefined
    if (isProbe) {
      if (this.#probing || sentAt < this.#restsUntil) return undefined
      this.#probing = true
    }
    return {
      succeeded: () => this.#close(),
      failed: cause => this.#fail(cause, sentAt, isProbe),
    }
  }

  #close(): void {
    this.#answeredAt = this.#now()
    this.#openedAt = undefined
    this.#probing = false
    this.#restMs = FIRST_REST_MS
  }

  #fail(cause: unknown, sentAt: number, wasProbe: boolean): void {
    if (this.#answeredAt > sentAt) return
    this.#cause = cause
    if (this.#openedAt !== undefined && !wasProbe) return
    if (this.#openedAt !== undefined) this.#restMs = Math.min(this.#restMs * 2, LONGEST_REST_MS)
    this.#openedAt ??= this.#now()
    this.#probing = false
    this.#restsUntil = this.#now() + this.#restMs
  }
}
