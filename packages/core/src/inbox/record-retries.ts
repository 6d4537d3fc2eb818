const FIRST_DELAY_MS = 250
const MAX_DELAY_MS = 5000
/** While draining, the store may come back at any moment of a short time. */
const MAX_DRAIN_DELAY_MS = 1000

/**
 * Decides how long an inbox keeps trying to record how an attempt ended: while it is open, as long as the caller says;
 * from the beginning of a drain until the drain's deadline, with a last try then. One instance serves all events of an
 * inbox.
 */
export class RecordRetries {
  /** Monotonic milliseconds. */
  #drainEndsAt: number | undefined
  readonly #waiting = new Set<() => void>()

  /** Everything that waits for its next try gets it now. */
  drain(timeoutMs: number): void {
    this.#drainEndsAt = performance.now() + timeoutMs
    for (const wake of this.#waiting) wake()
  }

  /**
   * Waits after this many failures. Resolves to whether another try should follow.
   *
   * @param openMs - How much longer to try while the inbox is open.
   */
  async next(failures: number, openMs: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    const endsAt = this.#drainEndsAt
    const leftMs = endsAt === undefined ? openMs : endsAt - performance.now()
    if (leftMs <= 0) return false
    const mostMs = endsAt === undefined ? MAX_DELAY_MS : MAX_DRAIN_DELAY_MS
    await this.#pause(Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), mostMs, leftMs))
    return true
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#waiting.add(wake)
    })
  }
}
