/** A number with its unit: `'250ms'`, `'30s'`, `'5m'`, `'24h'`, `'7d'`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

export const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Converts a {@link Duration} to milliseconds, and anything else to NaN. Lives here because `RetryAfterError` parses
 * durations.
 */
export function parseDuration(value: unknown): number {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value) : null
  return match === null ? Number.NaN : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}
