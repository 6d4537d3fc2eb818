/** Truncates a text, and copies it: a substring would keep the whole original in memory. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return new TextDecoder().decode(new TextEncoder().encode(`${text.slice(0, maxLength - 1)}…`))
}
