import { setTimeout as sleep } from 'node:timers/promises'

/** Waits by a clock. Rejects when `signal` aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/**
 * Creates a sender's wait. A fake clock moves to the end of a wait at once, unless another wait has already moved it
 * further, so that waits that would overlap in real time overlap here too.
 */
export function createWait(clock: () => number): Wait {
  if (!('set' in clock) || typeof clock.set !== 'function') {
    return (ms, signal) => sleep(ms, undefined, { signal })
  }
  const set = clock.set as (instant: number) => void
  return async (ms, signal) => {
    const end = clock() + ms
    // One turn of the event loop, so that all work that starts now reads the clock before it moves.
    await sleep(0, undefined, { signal })
    if (clock() < end) set(end)
  }
}
