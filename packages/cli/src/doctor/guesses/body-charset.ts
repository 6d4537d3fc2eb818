import { Buffer } from 'node:buffer'
import type { Facts } from '../evidence/facts.ts'
import type { Guess } from '../evidence/finding.ts'

/** Assumes that the bytes were read in one character set and written in another. */
export function bodyCharset({ delivery, text }: Facts): readonly Guess[] {
  const { body } = delivery
  const supposed: [Uint8Array | undefined, string][] = [
    [Buffer.from(text, 'latin1'), 'read as Latin-1 and written as UTF-8 (é became Ã©)'],
    [fromWindows1252(text), 'read as Windows-1252 and written as UTF-8 (é became Ã©)'],
    [Buffer.from(Buffer.from(body).toString('latin1'), 'utf8'), 'read as UTF-8 and written as Latin-1'],
    [
      Buffer.from(new TextDecoder('windows-1252').decode(body), 'utf8'),
      'read as UTF-8 and written as Windows-1252',
    ],
    [Buffer.from(Buffer.from(body).toString('utf16le'), 'utf8'), 'written as UTF-16'],
    [Buffer.from(text.normalize('NFD'), 'utf8'), 'converted to another Unicode normalization form (NFC)'],
    [Buffer.from(text.normalize('NFC'), 'utf8'), 'converted to another Unicode normalization form (NFD)'],
  ]
  return supposed.flatMap(([signed, what]) =>
    signed === undefined
      ? []
      : [
          {
            cause: 'body-charset',
            body: signed,
            text: `The body was ${what} after it was signed. Handle it as bytes (a Buffer) from the socket to the receiver, never as a string with an encoding.`,
          },
        ],
  )
}

/** Maps each Windows-1252 character that Latin-1 lacks to its byte. */
const WINDOWS_1252 = new Map<string, number>()
for (let byte = 0x80; byte < 0xa0; byte++) {
  WINDOWS_1252.set(new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte)
}

function fromWindows1252(text: string): Uint8Array | undefined {
  const bytes = Array.from(text, char => WINDOWS_1252.get(char) ?? char.codePointAt(0) ?? 0)
  return bytes.every(byte => byte < 0x100) ? Uint8Array.from(bytes) : undefined
}
