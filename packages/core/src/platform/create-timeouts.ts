import { platform } from '#platform'
import type { Timeouts } from './platform.ts'

/** Timeouts of one length, in milliseconds, each of them cheaper than a timer where the platform allows. */
export const createTimeouts: (ms: number) => Timeouts = platform.createTimeouts

const byLength = new Map<number, Timeouts>()

/** The timeouts of one length that everybody shares who asks here. */
export function timeoutsOf(ms: number): Timeouts {
  const known = byLength.get(ms) ?? createTimeouts(ms)
  byLength.set(ms, known)
  return known
}
