import type { Keep } from '../shape/keep.ts'
import { KIND, kindOf } from '../shape/kinds.ts'
import { ANY_KEY, type KeyOf } from '../shape/names.ts'
import { DEEPEST } from '../shape/room.ts'

const LONGEST = 64
/**
 * What stays readable of a text: the prefix of an id if it is one of these, which says what the id identifies; and spaces and
 * ASCII punctuation, which show the form of an address or a number. `evt_` and `cnv_` are published, the others are guesses.
 */
const PREFIX = /^(?:evt|cnv|msg|cal|call|cmp|ctc|con|wks|wsp|usr|org|acc|tpl|whk|att)_(?=.)/
const PUNCTUATION = ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'

/** Replaces a value, or keeps it. `path`: its fields, such as `data.items[].name`. */
export type Redact = (value: unknown, path: string) => unknown

/** How an event is redacted. */
export interface Redaction {
  readonly redact: Redact
  readonly keyOf: KeyOf
  readonly keep: Keep
}

/**
 * Redacts every value of a JSON document, and every key that is data, but for what may be kept. The path of what is deeper
 * than shapes are told apart ends there.
 */
export function redactAll(value: unknown, { redact, keyOf, keep }: Redaction, path = '', depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return keep.isKept ? value : redact(value, path)
  const inside = (step: string): readonly [Redaction, string, number] => [
    { redact, keyOf, keep: keep.at(step) },
    depth < DEEPEST ? (step === '[]' ? `${path}[]` : path === '' ? step : `${path}.${step}`) : path,
    depth + 1,
  ]
  if (Array.isArray(value)) {
    const item = inside('[]')
    return value.map(one => redactAll(one, ...item))
  }
  let others = 0
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const key = keyOf(name)
      return [key === ANY_KEY ? `${maskText(name)}_${++others}0000` : name, redactAll(one, ...inside(key))]
    }),
  )
}

/**
 * Replaces a value by one of the same form: capital letters by `X`, digits by `0`, and everything else of every script by `x`,
 * except for ASCII punctuation and the prefix of an id. A time stays a time, and a number keeps its size.
 */
export function mask(value: unknown): unknown {
  if (typeof value === 'number') return maskNumber(value)
  if (typeof value !== 'string') return value
  return kindOf(value) === KIND.time ? maskTime(value) : maskText(value)
}

function maskText(text: string): string {
  const [prefix = ''] = PREFIX.exec(text) ?? []
  return prefix + text.slice(prefix.length, LONGEST).replace(/./gsu, maskCharacter)
}

function maskCharacter(character: string): string {
  if (PUNCTUATION.includes(character)) return character
  if (/\p{Lu}/u.test(character)) return 'X'
  return /\p{N}/u.test(character) ? '0' : 'x'
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
