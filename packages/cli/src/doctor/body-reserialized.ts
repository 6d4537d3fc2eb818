import {
  DEEPEST_INDENT,
  type JsonLayout,
  type JsonTree,
  levelsOf,
  numbersOf,
  parseTree,
  renumbered,
  reordered,
  writeTree,
} from '../delivery/json-tree.ts'
import type { Facts, Guess } from './evidence.ts'

/** Largest body that is rewritten at all: that of a receiver with the default limit. Anyone may have sent it. */
const LARGEST = 1_048_576
/** Most characters of all rewritten bodies: the likely styles of a large one, all styles of an ordinary one. */
const MOST_WRITTEN = 8_388_608
/** Largest body, and most numbers, of which each number is tried in each notation. */
const LARGEST_TRIED = 16_384
const MOST_NUMBERS = 30

/**
 * Assumes that the body was parsed and rewritten as other bytes of the same JSON. Tries every common JSON style, the orders of
 * keys that a sender may have used, and the notations of numbers that a parser loses.
 */
export function bodyReserialized({ text }: Facts): readonly Guess[] {
  if (text.length > LARGEST) return []
  try {
    return allStyles(text, parseTree(text.replace(/^\ufeff/, '')))
  } catch {
    // It is not JSON, or nested deeper than a writer of JSON can go.
    return []
  }
}

function allStyles(text: string, tree: JsonTree): readonly Guess[] {
  const guesses = new Map<string, Guess>()
  const layouts = levelsOf(tree) > DEEPEST_INDENT ? ON_ONE_LINE : LAYOUTS
  let written = 0
  const add = (signed: string, guess: () => Guess) => {
    written += signed.length
    if (signed !== text && !guesses.has(signed)) guesses.set(signed, guess())
  }
  for (const order of ORDERS) {
    for (const layout of layouts) {
      if (written > MOST_WRITTEN) return [...guesses.values()]
      const json = writeTree(order(tree), layout)
      for (const escapeMore of ESCAPES) {
        for (const ending of ['', '\n']) {
          const signed = escapeMore(json) + ending
          add(signed, () => guessOf(signed, layout.name))
        }
      }
    }
  }
  const addNumbers = (rewritten: JsonTree, layout: JsonStyle) => {
    if (written > MOST_WRITTEN) return
    const signed = writeTree(rewritten, layout)
    const style = `${layout.name}, with another notation of its numbers, such as 1.0 for 1`
    add(signed, () => guessOf(signed, style))
  }
  for (const rewritten of allNumbers(tree))
    for (const order of ORDERS) for (const layout of layouts) addNumbers(order(rewritten), layout)
  for (const rewritten of singleNumbers(text, tree))
    for (const layout of ON_ONE_LINE) addNumbers(rewritten, layout)
  return [...guesses.values()]
}

function guessOf(signed: string, style: string): Guess {
  return {
    cause: 'body-reserialized',
    body: new TextEncoder().encode(signed),
    text: `The body was parsed and serialized again before it was verified: the signed body is the same event, written ${style}. The signature covers bytes, not values. Give the receiver the raw body: mount the webhook route above app.use(express.json()), and never pass JSON.stringify(req.body).`,
  }
}

/** A JSON style. */
interface JsonStyle extends JsonLayout {
  /** Completes the sentence "written …". */
  readonly name: string
}

const LAYOUTS: readonly JsonStyle[] = [
  { name: 'without spaces', comma: ',', colon: ':' },
  // As Python's `json.dumps` does.
  { name: 'with a space after each comma and colon', comma: ', ', colon: ': ' },
  { name: 'with two-space indentation', comma: ',', colon: ': ', indent: '  ' },
  { name: 'with four-space indentation', comma: ',', colon: ': ', indent: '    ' },
  { name: 'with tab indentation', comma: ',', colon: ': ', indent: '\t' },
]

const ON_ONE_LINE = LAYOUTS.filter(({ indent }) => indent === undefined)

type Escape = (json: string) => string

const codeUnit = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
const ascii: Escape = json => json.replace(/[\u0080-\uffff]/g, codeUnit)
const slashes: Escape = json => json.replaceAll('/', '\\/')
const html: Escape = json => json.replace(/[<>&\u2028\u2029]/g, codeUnit)

/** Characters that Python, PHP, Go and combinations escape beyond JSON's requirements. */
const ESCAPES: readonly Escape[] = [
  json => json,
  ascii,
  slashes,
  json => slashes(ascii(json)),
  html,
  json => ascii(html(json)),
]

type Order = (tree: JsonTree) => JsonTree

const PUBLISHED = ['id', 'type', 'created_at', 'data', 'conversation_id', 'channel', 'resolved_by']

const rankOf = (key: string): number =>
  (PUBLISHED.indexOf(key) + PUBLISHED.length + 1) % (PUBLISHED.length + 1)
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
/** JavaScript puts keys such as 10 first, in numeric order. */
const isIndex = (key: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(key)
const indexLast = (a: string, b: string): number => Number(isIndex(a)) - Number(isIndex(b))
const descending = (a: string, b: string): number => (isIndex(a) && isIndex(b) ? Number(b) - Number(a) : 0)

/** Key orders that a sender may have used: as received, sorted, as in the specification, or before JavaScript's own order. */
const ORDERS: readonly Order[] = [
  tree => tree,
  tree => reordered(tree, byText),
  tree => reordered(tree, (a, b) => rankOf(a) - rankOf(b)),
  tree => reordered(tree, (a, b) => rankOf(a) - rankOf(b) || (isIndex(a) && isIndex(b) ? byText(a, b) : 0)),
  tree => reordered(tree, indexLast),
  tree => reordered(tree, (a, b) => indexLast(a, b) || descending(a, b)),
  tree => reordered(tree, descending),
]

/** Notations of a number that a parser takes for the same one. */
function notationsOf(number: string): readonly string[] {
  const value = Number(number)
  const plain = String(value)
  if (/^-?\d+$/.test(plain)) {
    const [, digits = plain, zeros = ''] = /^(-?\d*?[1-9])(0*)$/.exec(plain) ?? []
    const power = zeros.length
    const short =
      power === 0
        ? []
        : [`${digits}e${power}`, `${digits}E${power}`, `${digits}e+${power}`, `${digits}.0E${power}`]
    return [
      plain,
      `${plain}.0`,
      `${plain}.00`,
      ...short,
      value.toExponential(),
      ...(value === 0 ? ['-0', '-0.0'] : []),
    ]
  }
  return [plain, `${plain}0`, value.toExponential(), value.toExponential().replace('e', 'E')]
}

/** Returns the tree with all its numbers as JavaScript writes them, and as other languages write fractions. */
function allNumbers(tree: JsonTree): readonly JsonTree[] {
  return [0, 1].map(form => renumbered(tree, number => notationsOf(number)[form] ?? number))
}

/** Returns the tree with each of its numbers in each notation. */
function* singleNumbers(text: string, tree: JsonTree): Iterable<JsonTree> {
  const numbers = numbersOf(tree)
  if (text.length > LARGEST_TRIED || numbers.length > MOST_NUMBERS) return
  for (const [place, number] of numbers.entries()) {
    for (const notation of notationsOf(number))
      yield renumbered(tree, (other, at) => (at === place ? notation : other))
  }
}
