const TICK_MS = 5
/** What a machine at rest may be late by. */
const LATE_MS = 20

/**
 * What a call took, without the times in which this process did not run: on a busy machine those are the scheduler's,
 * and say nothing about a deadline that the code keeps. A call that blocks the process by itself is not seen.
 * `ms` is for upper limits: a timer runs on while the process does not. `wallMs` is for lower ones.
 */
export async function ownTime<T>(
  call: () => T | Promise<T>,
): Promise<{ value: T; ms: number; wallMs: number }> {
  const startedAt = performance.now()
  let lastAt = startedAt
  let heldUp = 0
  function look(): void {
    const now = performance.now()
    if (now - lastAt > LATE_MS) heldUp += now - lastAt - TICK_MS
    lastAt = now
  }
  const ticks = setInterval(look, TICK_MS)
  try {
    const value = await call()
    look()
    const wallMs = performance.now() - startedAt
    return { value, ms: wallMs - heldUp, wallMs }
  } finally {
    clearInterval(ticks)
  }
}
