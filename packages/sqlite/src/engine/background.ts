import { LOOKS } from '../storage/leases/expired.ts'
import type { Storage } from '../storage/storage.ts'

const IDLE_MS = 1000
const BUSY_MS = 50

/** Forgets old ids in the background: a bite now and then, more often while there is more to forget. */
export function startPruning(storage: Storage): { stop(): void } {
  let timer = setTimeout(bite, IDLE_MS).unref()
  function bite(): void {
    timer = setTimeout(bite, storage.prune() ? BUSY_MS : IDLE_MS).unref()
  }
  return {
    stop() {
      clearTimeout(timer)
    },
  }
}

/** Renews the leases of this process at a third of their length, while `isAlive`, and watches those of others. */
export function startRenewing(
  storage: Storage,
  leaseMs: number,
  isAlive: () => boolean = () => true,
): { stop(): void } {
  const renewing = setInterval(() => {
    if (isAlive()) storage.renew(leaseMs)
  }, leaseMs / 3).unref()
  // Twice as often as there is to look, so that a timer which is a little early costs no whole look.
  const watching = setInterval(() => storage.watch(leaseMs), leaseMs / LOOKS / 2).unref()
  return {
    stop() {
      clearInterval(renewing)
      clearInterval(watching)
    },
  }
}
