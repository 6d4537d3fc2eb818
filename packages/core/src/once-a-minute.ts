const QUIET_MS = 60_000

/**
 * Says of each reason whether to log it: at once, then once a minute, so that neither a lone fault goes unnoticed
 * nor a flood of them fills a disk. Answers `undefined` for "not now", and otherwise how many went unsaid, as words.
 */
export function onceAMinute(): (reason: string) => string | undefined {
  const seen = new Map<string, { at: number; unsaid: number }>()
  return reason => {
    const now = performance.now()
    const last = seen.get(reason)
    if (last !== undefined && now - last.at < QUIET_MS) {
      last.unsaid++
      return undefined
    }
    seen.set(reason, { at: now, unsaid: 0 })
    return last?.unsaid ? ` (and ${last.unsaid} more since the last report)` : ''
  }
}
