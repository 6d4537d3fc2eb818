import type { Entry } from './entry.ts'
import type { StoreGate } from './guarded-store.ts'

export interface LeaseKeeperParts {
  readonly entries: ReadonlyMap<string, Entry>
  readonly store: StoreGate
  readonly leaseMs: number
  readonly newToken: () => string
  /** Called for an entry that another process owns now. */
  readonly lose: (entry: Entry) => void
}

export interface LeaseKeeper {
  /** To be called for each lease, with the monotonic time. */
  watch(now: number): void
  stop(): void
}

/** How many leases are renewed before other work gets its turn. */
const SLICE = 500
/** Longer than a round of renewals takes: one that is merely slow must not be joined by another. */
const SLOW_ROUND_MS = 5000

/** Renews every lease of this process at a third of its length, for as long as there are any. */
export function createLeaseKeeper(parts: LeaseKeeperParts): LeaseKeeper {
  const { entries, store, leaseMs, newToken, lose } = parts
  let timer: ReturnType<typeof setTimeout> | undefined
  /** When the timer rings, or its round was last seen to go on. */
  let dueAt = 0
  let stopped = false

  async function renewAll(): Promise<void> {
    const own = timer
    dueAt = performance.now()
    let inSlice: Promise<void>[] = []
    for (const entry of [...entries.values()]) {
      if (stopped) return
      if (entry.phase !== 'held') continue
      inSlice.push(renew(entry))
      if (inSlice.length < SLICE) continue
      await Promise.all(inSlice)
      inSlice = []
      await new Promise(resolve => setTimeout(resolve, 0))
      dueAt = performance.now()
    }
    await Promise.all(inSlice)
    if (timer !== own) return
    timer = undefined
    if (entries.size > 0) watch(performance.now())
  }

  async function renew(entry: Entry): Promise<void> {
    const asked = performance.now()
    const { token } = entry
    try {
      const held = await store.extend(entry.key, token, leaseMs)
      // Another token by now: an earlier round that was slow has taken it again.
      if (held || entry.token !== token || (await takeAgain(entry))) {
        entry.leasedUntil = asked + leaseMs
      } else if (entry.phase === 'held') {
        lose(entry)
      }
    } catch {
      // Observed by the gate. The lease may lapse meanwhile; the next round sees who owns it then.
    }
  }

  /**
   * A lease can be gone without a new owner: the store was restarted empty, or this process stood still. A token of
   * its own, because a late answer to this claim gives that token's lease back; known from before the claim, because
   * the store may apply it and the answer be lost: the next round must not take that lease for another process's.
   */
  async function takeAgain(entry: Entry): Promise<boolean> {
    if (entry.phase !== 'held') return true
    const token = newToken()
    entry.token = token
    const claim = await store.claim(entry.key, token, { leaseMs })
    // Anything that is no owner's answer: the next round asks again.
    if (claim.outcome !== 'claimed') return claim.outcome !== 'in_flight' && claim.outcome !== 'completed'
    if (isSettled(entry)) await store.release(entry.key, token)
    return true
  }

  function watch(now: number): void {
    // On Workers a timer ends with the request that set it, and so does the round that it began.
    if (stopped || (timer !== undefined && now < dueAt + Math.max(leaseMs / 3, SLOW_ROUND_MS))) return
    const delayMs = timer === undefined ? leaseMs / 3 : 0
    clearTimeout(timer)
    dueAt = now + delayMs
    timer = setTimeout(() => void renewAll(), delayMs)
    letProcessEnd(timer)
  }

  return {
    watch,
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** A lease is no reason to keep a process that has nothing else to do; what waits or runs is. */
function letProcessEnd(timer: unknown): void {
  if (typeof timer === 'object') (timer as { unref?: () => void } | null)?.unref?.()
}

/** Asked after an `await`, when the phase may be another than the one just looked at. */
function isSettled(entry: Entry): boolean {
  return entry.phase === 'settled'
}
