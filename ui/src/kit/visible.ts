/** Characters that draw nothing, end a text early or turn its direction: NUL, controls, bidi marks, zero widths. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** Those of them that turn the direction of what follows. */
export const TURNING = /[\u202a-\u202e\u2066-\u2069]/gu

/** A text from outside in one line, with what cannot be seen written out: `a\u0000b`. */
export function visible(text: string, hidden = HIDDEN): string {
  return text.replace(hidden, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
