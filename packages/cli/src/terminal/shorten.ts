import stringWidth from 'fast-string-width'

/** Shortens text to `columns` columns and keeps both ends, as ids often differ only at the end. */
export function shorten(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  const characters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
  const endColumns = Math.floor((columns - 1) / 3)
  const beginning = within(characters, columns - 1 - endColumns)
  const end = within(characters.toReversed(), endColumns).toReversed()
  return `${beginning.join('')}…${end.join('')}`
}

/** Returns the first characters that fit. */
function within(characters: readonly string[], columns: number): readonly string[] {
  let left = columns
  const end = characters.findIndex(one => {
    left -= stringWidth(one)
    return left < 0
  })
  return end === -1 ? characters : characters.slice(0, end)
}
