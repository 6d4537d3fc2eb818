import type { Facts } from '../evidence/facts.ts'
import type { Finding } from '../evidence/finding.ts'

export function bodyReplaced({ text }: Facts): Finding | undefined {
  if (!text.includes('\ufffd')) return undefined
  return {
    cause: 'body-replaced',
    proven: false,
    text: 'The body contains the replacement character U+FFFD: bytes that are not UTF-8 were decoded as text in transit, and their values are lost. Handle the body as bytes (a Buffer) everywhere, never as a string.',
  }
}
