/** Writes NULs out, as `\u0000`: a driver ends a text at the first one. */
export function writeNul(text: string): string {
  return text.replaceAll('\0', '\\u0000')
}
