/** Invisible characters, which may end a text or change its direction: NUL, controls, bidi marks, zero widths. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Characters that change the direction of the text after them. */
export const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu

/** Escapes invisible characters in foreign text: `a\u0000b`. */
export function visible(text: string, hidden = HIDDEN): string {
  return text.replace(hidden, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Formats a number with thousands separators. `toLocaleString` loads tables, which delays the first list. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** Formats an error text, which may have several lines, as one line. */
export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
