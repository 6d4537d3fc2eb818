/** Kinds of JSON values, as bits: a field may have several. Times and large numbers are kinds of their own. */
export const KIND = {
  null: 1,
  boolean: 2,
  string: 4,
  /** A string that is a date and a time in ISO 8601. */
  time: 8,
  number: 16,
  /** A whole number that is a time of this century in seconds since the epoch. */
  seconds: 32,
  milliseconds: 64,
  /** A whole number beyond 2^53, which `JSON.parse` rounds. */
  large: 128,
  array: 256,
  object: 512,
} as const

export const STRINGS: number = KIND.string | KIND.time
const TIMES: number = KIND.seconds | KIND.milliseconds
export const NUMBERS: number = KIND.number | KIND.large | TIMES

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/

export function kindOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      // Most strings end here, without a regular expression.
      return value.charCodeAt(4) === 0x2d && TIME.test(value) ? KIND.time : KIND.string
    case 'number':
      return kindOfNumber(value)
    case 'boolean':
      return KIND.boolean
    default:
      if (value === null || value === undefined) return KIND.null
      return Array.isArray(value) ? KIND.array : KIND.object
  }
}

function kindOfNumber(value: number): number {
  if (!Number.isInteger(value)) return KIND.number
  if (!Number.isSafeInteger(value)) return KIND.large
  if (value >= 1e9 && value < 1e10) return KIND.seconds
  return value >= 1e12 && value < 1e13 ? KIND.milliseconds : KIND.number
}

/** Returns whether a value of a kind is no news for a field that has had these. */
export function allows(known: number, kind: number): boolean {
  if ((known & kind) !== 0) return true
  if (kind === KIND.time) return (known & KIND.string) !== 0
  if (kind === KIND.number) return (known & TIMES) !== 0
  return (kind & TIMES) !== 0 && (known & KIND.number) !== 0
}

/** Names the kinds of a field, for people. */
export function nameOfKinds(kinds: number): string {
  const names = Object.entries(KIND).flatMap(([name, bit]) =>
    (kinds & bit) === 0 ? [] : [LABELS[name] ?? name],
  )
  return [...new Set(names)].join(' or ') || 'nothing'
}

const LABELS: Readonly<Record<string, string>> = {
  time: 'time in ISO 8601',
  seconds: 'time in seconds',
  milliseconds: 'time in milliseconds',
  large: 'number beyond 2^53',
}
