/** The beginning of a text, as a text of its own: a part of another one keeps all of that in memory. */
export function shorten(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return new TextDecoder().decode(new TextEncoder().encode(`${text.slice(0, maxLength - 1)}…`))
}
