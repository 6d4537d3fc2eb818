/** Formats an instant as ISO 8601 in UTC. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString()
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Words for days, with their age in days. A day starts at midnight in the emulator's time zone. */
const DAYS: Readonly<Record<string, number>> = { today: 0, yesterday: 1 }

/** Parses ISO 8601, an age such as `24h`, `now`, `today` or `yesterday`. Returns milliseconds, or `undefined`. */
export function readInstant(text: string, now: number): number | undefined {
  if (text === 'now') return now
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * (UNIT_MS[unit] ?? 0)
  const days = DAYS[text]
  if (days !== undefined) {
    const midnight = new Date(now)
    midnight.setDate(midnight.getDate() - days)
    return midnight.setHours(0, 0, 0, 0)
  }
  // Date.parse alone would accept '5' as May.
  const ms = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
