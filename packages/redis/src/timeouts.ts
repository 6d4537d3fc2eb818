/** A call that has to settle in time. */
export interface Deadline {
  /** The call settled. `false` when its time was up before that. */
  met(): boolean
}

/**
 * Ends calls that take longer than `ms`, all with one timer: they have the same time each, so the oldest is
 * always the next. A timer for each call took 0.6 µs of a claim's 4.
 */
export interface Deadlines {
  readonly ms: number
  start(expire: () => void): Deadline
}

export function createDeadlines(ms: number): Deadlines {
  interface Open extends Deadline {
    readonly until: number
    expire: () => void
  }
  const open = new Set<Open>()
  let armed = false

  function arm(delayMs: number): void {
    armed = true
    // What the calls wait for holds the process, if anything does.
    setTimeout(look, delayMs).unref()
  }

  /** After one more look at the network: a reply may have come in time to a process that was itself held up. */
  function look(): void {
    setImmediate(expireDue)
  }

  function expireDue(): void {
    armed = false
    const now = performance.now()
    for (const call of open) {
      if (call.until > now) {
        arm(call.until - now)
        return
      }
      open.delete(call)
      call.expire()
    }
  }

  return {
    ms,
    start(expire) {
      const call: Open = {
        until: performance.now() + ms,
        expire,
        met() {
          // A set with much coming and going leaves tables behind that keep what was in them: no more than this.
          call.expire = nothing
          return open.delete(call)
        },
      }
      open.add(call)
      if (!armed) arm(ms)
      return call
    },
  }
}

function nothing(): void {}
