const TICK_MS = 5
/** Delay that an idle machine may cause. */
const LATE_MS = 20

/**
 * Measures a call without the times in which this process did not run: on a busy machine, those say nothing about the
 * code's deadlines. Does not detect a call that blocks the process itself. Use `ms` for upper limits, and `wallMs` for
 * lower ones: timers continue while the process does not run.
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
