/** Prefix of a message that SQS cannot store as text. */
const BASE64 = 'base64:'
/** Characters that SQS allows. A body may contain others. */
const ALLOWED = /^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u

/** Turns bytes into text that SQS stores, readable in its console if the bytes are text. */
export function toText(bytes: Uint8Array): string {
  return textOf(bytes) ?? `${BASE64}${Buffer.from(bytes).toString('base64')}`
}

export function fromText(text: string): Uint8Array {
  if (text.startsWith(BASE64)) return new Uint8Array(Buffer.from(text.slice(BASE64.length), 'base64'))
  return new TextEncoder().encode(text)
}

/** Returns the size of {@link toText}'s result in bytes, as SQS counts them. */
export function sizeOfText(bytes: Uint8Array): number {
  return textOf(bytes) === undefined ? BASE64.length + 4 * Math.ceil(bytes.length / 3) : bytes.length
}

/** Returns `undefined` unless the text encodes to the same bytes. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return ALLOWED.test(text) && !text.startsWith(BASE64) ? text : undefined
  } catch {
    return undefined
  }
}
