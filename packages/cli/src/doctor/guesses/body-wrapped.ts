import { Buffer } from 'node:buffer'
import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

/** Assumes that the body became a JSON string, a form field or base64 in transit. */
export function bodyWrapped({ text }: Facts): readonly Guess[] {
  const trimmed = text.trim()
  const supposed: [string | Uint8Array | undefined, string][] = [
    [
      stringIn(trimmed),
      'The body was encoded as a JSON string: JSON.stringify ran on text that was already JSON. Remove one JSON.stringify',
    ],
    [
      JSON.stringify(text),
      'The sender signed the body as a JSON string, with quotes and backslashes, but sent the text inside. Sign and send the same bytes',
    ],
    [
      fieldIn(trimmed),
      'The body was turned into a form field. Something sends it as application/x-www-form-urlencoded; it must be forwarded as application/json, byte for byte',
    ],
    [
      base64In(trimmed),
      'The body is the signed body in base64, as API gateways and AWS Lambda deliver it. Decode it first: Buffer.from(event.body, "base64")',
    ],
  ]
  return supposed.flatMap(([signed, what]) =>
    signed === undefined ? [] : [{ cause: 'body-wrapped', body: Buffer.from(signed), text: `${what}.` }],
  )
}

function stringIn(text: string): string | undefined {
  if (!text.startsWith('"')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function fieldIn(text: string): string | undefined {
  if (!/^[^\s{}"]*(=|%7B)/i.test(text)) return undefined
  const [first] = new URLSearchParams(text)
  if (first === undefined) return undefined
  return first[1] === '' ? first[0] : first[1]
}

function base64In(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}
