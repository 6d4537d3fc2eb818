/** Every limit of a worker that depends on its lease. */
export interface LeaseLimits {
  readonly leaseMs: number
  /**
   * Period of the renewals. If the event loop blocks, a lease is at most one and a half periods old, and so lasts for
   * another four fifths of its time.
   */
  readonly renewMs: number
  /**
   * Period of the checks for expired leases. If the process that checked last is the one that died, the next check comes
   * up to two periods later: a dead process's events run again after at most one and a quarter leases.
   */
  readonly checkMs: number
  /**
   * Time without a reply after which a connection is replaced, since the network may have dropped it. Shorter than half a
   * lease: what runs is renewed in time on the next connection.
   */
  readonly silenceMs: number
  /** Longest wait for an event on the server. A connection that waits may be silent for this long in addition. */
  readonly blockMs: number
}

const PERIODS_PER_LEASE = 8
/** Below this, a busy machine would be mistaken for a dropped connection. */
const MIN_SILENCE_MS = 1000
/** Twice this, and a new connection, take less than the ten seconds after which events must be handled again. */
const MAX_SILENCE_MS = 4000

/** Derives all limits from the lease, so that a change of it changes all of them. */
export function limitsOf(leaseMs: number): LeaseLimits {
  const periodMs = leaseMs / PERIODS_PER_LEASE
  const silenceMs = Math.min(MAX_SILENCE_MS, Math.max(MIN_SILENCE_MS, leaseMs / 3))
  return { leaseMs, renewMs: periodMs, checkMs: periodMs, silenceMs, blockMs: silenceMs }
}

/** The same limits as options of BullMQ's worker. */
export function workerOptionsOf({ leaseMs, checkMs, blockMs }: LeaseLimits): {
  readonly lockDuration: number
  readonly skipLockRenewal: true
  readonly stalledInterval: number
  readonly drainDelay: number
} {
  return {
    lockDuration: leaseMs,
    skipLockRenewal: true,
    stalledInterval: checkMs,
    // In seconds.
    drainDelay: blockMs / 1000,
  }
}
