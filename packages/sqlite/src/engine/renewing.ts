import { LOOKS } from '../storage/lapses.ts'
import type { Storage } from '../storage/storage.ts'

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
