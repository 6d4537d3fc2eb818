import { Refusal } from '../errors/refusal.ts'

/** Limits on what a body may become once it is parsed. A few bytes can become an object of many times their size. */
export interface BodyBounds {
  /** Objects and arrays inside each other. */
  readonly maxDepth: number
  /** Objects, arrays, texts, numbers and others, at any depth. */
  readonly maxValues: number
}

/** Bounds of a receiver without the options `body.depth` and `body.values`. */
export const DEFAULT_BOUNDS: BodyBounds = { maxDepth: 1024, maxValues: 100_000 }

/** Bytes of memory for each value, and further ones for an object or an array. perf: note 47. */
const VALUE_BYTES = 24
const OBJECT_BYTES = 40
/** Weight of each byte of a body that is not read: of records with a value in every 15 bytes. */
const UNCOUNTED = 4

/**
 * Returns how many bytes of memory the body and its parsed event will take, or why the body exceeds the bounds, before
 * anything is parsed. Counts in the bytes, and only in a body that is long enough to exceed a bound: an ordinary one is
 * not read at all, and weighed by its length. Text that is not JSON is left to the parser.
 */
export function weighBody(body: Uint8Array, { maxDepth, maxValues }: BodyBounds): number | Refusal {
  // Each level takes two bytes, and each value two but the last.
  if (body.length <= 2 * Math.min(maxDepth, maxValues)) return UNCOUNTED * body.length
  let depth = 0
  let objects = 0
  let values = 1
  for (let at = 0; at < body.length; at++) {
    switch (body[at]) {
      case QUOTE:
        at = endOfText(body, at)
        break
      case COMMA:
        values++
        break
      case BRACE:
      case BRACKET:
        if (++depth > maxDepth)
          return tooComplex(`it is nested more than ${maxDepth} levels deep (body.depth)`)
        objects++
        if (!isEmpty(body, at)) values++
        break
      case BRACE_END:
      case BRACKET_END:
        depth--
        break
    }
  }
  if (values > maxValues) return tooComplex(`it holds more than ${maxValues} values (body.values)`)
  return body.length + VALUE_BYTES * values + OBJECT_BYTES * objects
}

const QUOTE = 34
const COMMA = 44
const BRACKET = 91
const BACKSLASH = 92
const BRACKET_END = 93
const BRACE = 123
const BRACE_END = 125
const SPACE = 32

/** Returns the place of the quote that ends a text. */
function endOfText(body: Uint8Array, from: number): number {
  let at = from + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}

/** Returns whether the object or array that begins here holds nothing. */
function isEmpty(body: Uint8Array, from: number): boolean {
  let at = from + 1
  while (at < body.length && (body[at] as number) <= SPACE) at++
  return body[at] === BRACKET_END || body[at] === BRACE_END
}

function tooComplex(detail: string): Refusal {
  return new Refusal('body_too_complex', { detail })
}
