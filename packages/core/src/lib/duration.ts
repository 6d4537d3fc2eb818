import { ConfigurationError } from '../errors/errors.ts'

/** A number of seconds, or a string that carries its unit: `'250ms'`, `'30s'`, `'5m'`, `'24h'`, `'7d'`. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

export interface DurationBounds {
  /** The name of the option, for the error. */
  readonly option: string
  readonly minMs: number
  readonly maxMs: number
}

/**
 * Milliseconds of a {@link Duration}. Throws {@link ConfigurationError} for anything that is not a finite
 * duration within the bounds. The upper bound is there to catch milliseconds that were passed as seconds.
 */
export function durationMs(value: unknown, bounds: DurationBounds): number {
  const ms = toMs(value)
  if (Number.isNaN(ms) || ms < bounds.minMs || ms > bounds.maxMs) {
    throw new ConfigurationError(
      bounds.option,
      `must be between ${formatMs(bounds.minMs)} and ${formatMs(bounds.maxMs)}, as a number of seconds or a string such as '30s', '5m' or '7d'; got ${show(value)}`,
    )
  }
  return ms
}

function toMs(value: unknown): number {
  if (typeof value === 'number') return value * 1000
  if (typeof value !== 'string') return Number.NaN
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(value)
  if (match === null) return Number.NaN
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}

function formatMs(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `'${ms / UNIT_MS[unit]}${unit}'`
  }
  return `'${ms}ms'`
}

function show(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
