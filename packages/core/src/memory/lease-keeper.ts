import type { Entry } from './entry.ts'
import type { StoreGate } from './store-gate.ts'

export interface LeaseKeeperParts {
  readonly entries: ReadonlyMap<string, Entry>
  readonly store: StoreGate
  readonly leaseMs: number
  readonly newToken: () => string
  /** Called for an entry that another process owns now. */
  readonly lose: (entry: Entry) => void
}

/** How many leases are renewed before other work gets its turn. */
const SLICE = 500

/** Renews every lease of this process at a third of its length, for as long as there are any. */
export function createLeaseKeeper(parts: LeaseKeeperParts): { watch(): void; stop(): void } {
  const { entries, store, leaseMs, newToken, lose } = parts
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false

  async function renewAll(): Promise<void> {
    let inSlice: Promise<void>[] = []
    for (const entry of [...entries.values()]) {
      if (stopped) return
      if (entry.phase !== 'held') continue
      inSlice.push(renew(entry))
      if (inSlice.length < SLICE) continue
      await Promise.all(inSlice)
      inSlice = []
      await new Promise(resolve => setTimeout(resolve, 0))
    }
    await Promise.all(inSlice)
    timer = undefined
    if (entries.size > 0) watch()
  }

  async function renew(entry: Entry): Promise<void> {
    const asked = performance.now()
    try {
      if ((await store.extend(entry.key, entry.token, leaseMs)) || (await takeAgain(entry))) {
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

  function watch(): void {
    if (timer !== undefined || stopped) return
    timer = setTimeout(() => void renewAll(), leaseMs / 3)
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
