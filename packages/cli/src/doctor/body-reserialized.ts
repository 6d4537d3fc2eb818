import type { Facts, Guess } from './evidence.ts'

/** Assumes that the body was parsed and rewritten as other bytes of the same JSON. Tries every common JSON style. */
export function bodyReserialized({ text }: Facts): readonly Guess[] {
  try {
    return allStyles(text, JSON.parse(text.replace(/^\ufeff/, '')))
  } catch {
    // It is not JSON, or nested deeper than a writer of JSON can go.
    return []
  }
}

function allStyles(text: string, value: unknown): readonly Guess[] {
  const guesses = new Map<string, Guess>()
  for (const order of ORDERS) {
    for (const layout of LAYOUTS) {
      const json = layout.write(order(value))
      for (const escapeMore of ESCAPES) {
        for (const ending of ['', '\n']) {
          const signed = escapeMore(json) + ending
          if (signed !== text && !guesses.has(signed)) guesses.set(signed, guessOf(signed, layout.name))
        }
      }
    }
  }
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
interface JsonStyle {
  /** Completes the sentence "written …". */
  readonly name: string
  write(value: unknown): string
}

const LAYOUTS: readonly JsonStyle[] = [
  { name: 'without spaces', write: value => JSON.stringify(value) },
  { name: 'with a space after each comma and colon', write: writeSpaced },
  { name: 'with two-space indentation', write: value => JSON.stringify(value, null, 2) },
  { name: 'with four-space indentation', write: value => JSON.stringify(value, null, 4) },
  { name: 'with tab indentation', write: value => JSON.stringify(value, null, '\t') },
]

/** Formats JSON as Python's `json.dumps` does. */
function writeSpaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeSpaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${writeSpaced(one)}`)
  return `{${members.join(', ')}}`
}

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

type Order = (value: unknown) => unknown

/** Key orders that a sender may have used: as received, sorted, or as in the specification. */
const ORDERS: readonly Order[] = [value => value, sortKeys, envelopeOrder]

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([key, one]) => [key, sortKeys(one)]))
}

const PUBLISHED = ['id', 'type', 'created_at', 'data', 'conversation_id', 'channel', 'resolved_by']

function envelopeOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const rank = (key: string): number =>
    (PUBLISHED.indexOf(key) + PUBLISHED.length + 1) % (PUBLISHED.length + 1)
  const sorted = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b))
  return Object.fromEntries(sorted.map(([key, one]) => [key, envelopeOrder(one)]))
}
