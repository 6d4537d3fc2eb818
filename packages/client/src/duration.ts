import { misconfigured } from './client-error.ts'

/** A string with its unit: `'500ms'`, `'30s'`, `'2m'`. */
export type Duration = `${number}${'ms' | 's' | 'm'}`

const UNIT_MS = { ms: 1, s: 1000, m: 60_000 } as const
/** Longest time that Node's `fetch` itself waits for a response. */
const MAX_MS = 300_000

/** Returns the milliseconds of a {@link Duration} from 1 ms to 5 minutes. */
export function durationMs(option: string, value: unknown): number {
  if (typeof value === 'number') {
    throw misconfigured(option, `${value} has no unit; write '${value}ms' or '${value}s'`)
  }
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(String(value))
  const ms = match === null ? 0 : Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
  if (ms >= 1 && ms <= MAX_MS) return ms
  throw misconfigured(option, "must be a duration from '1ms' to '5m', such as '30s'")
}
