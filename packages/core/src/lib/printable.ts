// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g

/**
 * Escapes untrusted text for one line of a log or a terminal: control characters could move the cursor, break the line
 * or hide text.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
