import { POLLS_PER_LEASE } from '../storage/leases/expired-leases.ts'
import type { Storage } from '../storage/storage.ts'

const IDLE_MS = 1000
const BUSY_MS = 200
/** Pause after pruning, as a multiple of the time it took, so that pruning takes little of the thread's time. */
const SHARE = 20

/** Recurring work that continues until it is stopped. */
export interface Background {
  stop(): void
}

/** Forgets old ids, a few at a time: more often while more are due, and less often if the disk is slow. */
export function startPruning(storage: Pick<Storage, 'prune'>): Background {
  const prune = (): void => {
    const startedAt = performance.now()
    const pauseMs = storage.prune() ? BUSY_MS : IDLE_MS
    const tookMs = performance.now() - startedAt
    timer = setTimeout(prune, Math.max(pauseMs, tookMs * SHARE)).unref()
  }
  let timer = setTimeout(prune, IDLE_MS).unref()
  return {
    stop() {
      clearTimeout(timer)
    },
  }
}

/** Looks every second where the file is: no delivery may come for hours. */
export function startWatching(storage: Pick<Storage, 'watch'>): Background {
  const timer = setInterval(() => storage.watch(), IDLE_MS).unref()
  return {
    stop() {
      clearInterval(timer)
    },
  }
}

/** Renews this process's leases three times per lease, while `isAlive` returns true, and watches other processes'. */
export function startLeaseRenewal(
  storage: Pick<Storage, 'renewLeases' | 'pollLeases'>,
  leaseMs: number,
  isAlive: () => boolean = () => true,
): Background {
  const renewal = setInterval(() => {
    if (isAlive()) storage.renewLeases(leaseMs)
  }, leaseMs / 3).unref()
  // Runs twice per poll, so that a slightly early timer skips none.
  const polls = setInterval(() => storage.pollLeases(leaseMs), leaseMs / POLLS_PER_LEASE / 2).unref()
  return {
    stop() {
      clearInterval(renewal)
      clearInterval(polls)
    },
  }
}
