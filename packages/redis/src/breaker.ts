/** Tells whether it makes sense to ask a server, from what became of the calls before. */
export interface Breaker {
  /** `undefined`: do not ask now. Otherwise ask, and report what became of it. */
  enter(): Attempt | undefined
  /** The last failure. */
  readonly cause: unknown
}

export interface Attempt {
  succeeded(): void
  failed(cause: unknown): void
}

const FIRST_REST_MS = 100
const LONGEST_REST_MS = 1000

/**
 * Opens at the first failure, unless the server has answered another call since the failed one was sent. While
 * open, one call at a time is let through to see, at first after 100 ms and then ever later up to a second.
 * Any answer closes it, also one that came after its deadline. It keeps no timer: the next call finds out.
 *
 * @param now monotonic milliseconds.
 */
export function createBreaker(now: () => number = () => performance.now()): Breaker {
  let answeredAt = Number.NEGATIVE_INFINITY
  let open = false
  let restMs = FIRST_REST_MS
  let restsUntil = 0
  let trying = false
  let cause: unknown

  function enter(): Attempt | undefined {
    const sentAt = now()
    const isTrial = open
    if (isTrial) {
      if (trying || sentAt < restsUntil) return undefined
      trying = true
    }
    return {
      succeeded() {
        answeredAt = now()
        open = false
        trying = false
        restMs = FIRST_REST_MS
      },
      failed(error) {
        if (answeredAt > sentAt) return
        cause = error
        if (open && !isTrial) return
        if (open) restMs = Math.min(restMs * 2, LONGEST_REST_MS)
        open = true
        trying = false
        restsUntil = now() + restMs
      },
    }
  }

  return {
    enter,
    get cause() {
      return cause
    },
  }
}
