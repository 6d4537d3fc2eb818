/** Marks a message that SQS cannot keep as text. */
const BASE64 = 'base64:'
/** Characters that SQS allows. It refuses any other, and a body may hold them. */
const ALLOWED = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

/** Turns bytes into a text that SQS keeps. Readable in its console, unless the bytes are no text. */
export function toText(bytes: Uint8Array): string {
  return textOf(bytes) ?? `${BASE64}${Buffer.from(bytes).toString('base64')}`
}

export function fromText(text: string): Uint8Array {
  if (text.startsWith(BASE64)) return new Uint8Array(Buffer.from(text.slice(BASE64.length), 'base64'))
  return new TextEncoder().encode(text)
}

/** Bytes of {@link toText}, as SQS counts them. */
export function sizeOfText(bytes: Uint8Array): number {
  return textOf(bytes) === undefined ? BASE64.length + 4 * Math.ceil(bytes.length / 3) : bytes.length
}

/** `undefined` unless each byte comes back the same. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return ALLOWED.test(text) && !text.startsWith(BASE64) ? text : undefined
  } catch {
    return undefined
  }
}
