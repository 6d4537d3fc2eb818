import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

export function bodyReplaced({ text }: Facts): Finding | undefined {
  if (!text.includes('\ufffd')) return undefined
  return {
    cause: 'body-replaced',
    proven: false,
    text: 'The body holds the replacement character U+FFFD: bytes that are not UTF-8 were turned into text on the way, and their true values are lost. Handle the body as bytes (a Buffer) everywhere, never as a string.',
  }
}
