import { visible } from '../kit/visible.ts'

/** Formats an error text, which may have several lines, as one line. */
export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
