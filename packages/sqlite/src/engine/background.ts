import { POLLS_PER_LEASE } from '../storage/leases/expired-leases.ts'
import type { Storage } from '../storage/storage.ts'

const IDLE_MS = 1000
const BUSY_MS = 200
/** The part of its time that the thread gives to forgetting: one in so many. */
const SHARE = 20

/** Work that goes on until it is stopped. */
export interface Background {
  stop(): void
}

/** Forgets old ids: a few now and then, more often while there are more to forget, and less often if the disk is slow. */
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

/** Renews the leases of this process at a third of their length, while `isAlive`, and watches those of others. */
export function startLeaseRenewal(
  storage: Pick<Storage, 'renewLeases' | 'pollLeases'>,
  leaseMs: number,
  isAlive: () => boolean = () => true,
): Background {
  const renewal = setInterval(() => {
    if (isAlive()) storage.renewLeases(leaseMs)
  }, leaseMs / 3).unref()
  // Twice as often as a poll is due, so that a timer which is a little early does not skip one.
  const polls = setInterval(() => storage.pollLeases(leaseMs), leaseMs / POLLS_PER_LEASE / 2).unref()
  return {
    stop() {
      clearInterval(renewal)
      clearInterval(polls)
    },
  }
}
