import { visible } from '../kit/visible.ts'

/** The text of an error, which may have several lines, where there is room for one. */
export function inOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
