import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'
import { ESCAPES, LAYOUTS, ORDERS } from './write-json.ts'

/** Assumes that the body was parsed and rewritten as other bytes of the same JSON. Tries every common JSON style. */
export function bodyReserialized({ text }: Facts): readonly Guess[] {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return []
  }
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
