/** Characters that draw nothing, end a text early or turn its direction: NUL, controls, bidi marks, zero widths. */
const HIDDEN = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** A text from outside in one line, with what cannot be seen written out: `a\u0000b`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
