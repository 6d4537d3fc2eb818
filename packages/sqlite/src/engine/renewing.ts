import type { Storage } from '../storage/storage.ts'

/** Renews the leases of this process at a third of their length, while `isAlive`. */
export function startRenewing(
  storage: Storage,
  leaseMs: number,
  isAlive: () => boolean = () => true,
): { stop(): void } {
  const timer = setInterval(() => {
    if (isAlive()) storage.renew(leaseMs)
  }, leaseMs / 3).unref()
  return {
    stop() {
      clearInterval(timer)
    },
  }
}
