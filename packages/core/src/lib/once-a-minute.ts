const QUIET_MS = 60_000

/**
 * Says whether to report a reason now: at once, then once a minute. `undefined` means not now; a text says how many
 * reports were suppressed since the last one, and is empty when there were none. Reasons after the first `mostReasons`
 * count as one.
 */
export function onceAMinute(
  mostReasons: number = Number.POSITIVE_INFINITY,
): (reason: string) => string | undefined {
  const seen = new Map<string, { at: number; suppressed: number }>()
  return name => {
    const reason = seen.size < mostReasons || seen.has(name) ? name : ''
    const now = performance.now()
    const last = seen.get(reason)
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.suppressed++
      return undefined
    }
    seen.set(reason, { at: now, suppressed: 0 })
    return last?.suppressed ? ` (and ${last.suppressed} more since the last report)` : ''
  }
}
