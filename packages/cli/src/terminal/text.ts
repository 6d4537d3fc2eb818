import stringWidth from 'fast-string-width'

/** A color for each meaning. Without colors, text stays unchanged. */
export interface Paint {
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
  dim(text: string): string
  bold(text: string): string
}

export function createPaint(colors: boolean): Paint {
  const style = (open: number, close: number) => (text: string) =>
    colors ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    good: style(32, 39),
    bad: style(31, 39),
    warn: style(33, 39),
    dim: style(2, 22),
    bold: style(1, 22),
  }
}

const INDENT = '    '

/**
 * Aligns rows in columns as wide as their widest cell. In a terminal of `columns`, cells that do not fit move to lines
 * of their own below the row, so that the terminal breaks no line.
 */
export function table(
  rows: readonly (readonly string[])[],
  columns: number = Number.POSITIVE_INFINITY,
): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, stringWidth(cell))
  }
  return rows.flatMap(row =>
    folded(
      row.map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - stringWidth(cell))),
      columns,
    ),
  )
}

function folded(cells: readonly string[], columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const cell of cells) {
    if (line === '') line = cell
    else if (stringWidth(line) + 2 + stringWidth(cell) <= columns) line += `  ${cell}`
    else {
      lines.push(line.trimEnd())
      line = INDENT + cell
    }
  }
  return [...lines, line.trimEnd()]
}

/** Breaks prose into indented lines of at most `columns`. Without a terminal it stays one line, which programs can search. */
export function wrap(text: string, indent: string, columns: number = Number.POSITIVE_INFINITY): string {
  const lines: string[] = []
  let line = indent
  for (const word of text.split(' ')) {
    if (line !== indent && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}

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
