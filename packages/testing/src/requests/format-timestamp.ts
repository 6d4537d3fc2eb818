/** Formats `t` from milliseconds since the epoch. */
export function formatTimestamp(instant: number, unit: 'seconds' | 'milliseconds' | 'iso8601'): string {
  if (unit === 'iso8601') return new Date(instant).toISOString()
  return String(unit === 'seconds' ? Math.floor(instant / 1000) : Math.floor(instant))
}
