import { KIND, kindOf } from '../shape/kinds.ts'
import { ANY_KEY, keyOf } from '../shape/shape.ts'

const LONGEST = 64
/** Prefix of an id, such as `cnv_`, which says what it identifies. */
const PREFIX = /^[a-z]{2,8}_(?=.)/

/** Replaces a value, or keeps it. `path`: its fields, such as `data.items[].name`. */
export type Redact = (value: unknown, path: string) => unknown

/** Redacts every value of a JSON document, and every key that is data. */
export function redactAll(value: unknown, redact: Redact, path = ''): unknown {
  if (Array.isArray(value)) return value.map(item => redactAll(item, redact, `${path}[]`))
  if (typeof value !== 'object' || value === null) return redact(value, path)
  let others = 0
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const key = keyOf(name)
      const isData = key === ANY_KEY
      const inside = redactAll(one, redact, path === '' ? key : `${path}.${key}`)
      return [isData ? `${maskText(name)}_${++others}0000` : name, inside]
    }),
  )
}

/**
 * Replaces a value by one of the same form: letters by `x`, digits by `0`, except for the prefix of an id. A time stays a
 * time, and a number keeps its size.
 */
export function mask(value: unknown): unknown {
  if (typeof value === 'number') return maskNumber(value)
  if (typeof value !== 'string') return value
  return kindOf(value) === KIND.time ? maskTime(value) : maskText(value)
}

function maskText(text: string): string {
  const [prefix = ''] = PREFIX.exec(text) ?? []
  const rest = text.slice(prefix.length, LONGEST)
  return (
    prefix +
    rest
      .replace(/\p{Lu}/gu, 'X')
      .replace(/[^\P{L}X]/gu, 'x')
      .replace(/\p{N}/gu, '0')
  )
}

function maskTime(text: string): string {
  return `2000-01-01T${text.slice(11).replace(/\d/g, '0')}`
}

function maskNumber(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return 0
  const size = Math.sign(value) * 10 ** Math.floor(Math.log10(Math.abs(value)))
  if (!Number.isInteger(value)) return Math.abs(value) < 1 ? Math.sign(value) * 0.5 : size + 0.5
  return Number.isSafeInteger(value) ? size : Math.sign(value) * 1e16
}
