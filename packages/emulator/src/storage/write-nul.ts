/** Escapes NULs as `\u0000`, because a driver ends a string at the first one. */
export function writeNul(text: string): string {
  return text.replaceAll('\0', '\\u0000')
}
