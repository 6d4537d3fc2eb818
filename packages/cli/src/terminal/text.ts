import { printable } from '@ackhook/core/spi'
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

/** Longest type, id or path of a stranger that is shown. */
const LONGEST_EXCERPT = 200

/** Shows the beginning of a text that anyone may have written, in any length. */
export function excerpt(text: string): string {
  if (text.length <= LONGEST_EXCERPT) return printable(text)
  return printable(`${text.slice(0, LONGEST_EXCERPT)}… (${text.length} characters)`)
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

/** A column of a {@link grid}. */
export interface GridColumn {
  readonly title: string
  /** Width to which it may shrink, after those that `yields` names before it. Without one it never does. */
  readonly least?: number
  /** The lower, the sooner it shrinks. Default 0. */
  readonly yields?: number
  /** Cuts a long text at its end, not in its middle. */
  readonly cutsEnd?: boolean
  readonly isNumber?: boolean
}

/** A cell of a {@link grid}: its text, and what colors it. */
export type GridCell = string | readonly [text: string, paint: (text: string) => string]

/**
 * Aligns rows below a header, each in one line. In a terminal of `columns`, columns shrink one after the other until all
 * fit.
 */
export function grid(
  heads: readonly GridColumn[],
  rows: readonly (readonly GridCell[])[],
  {
    colors,
    columns = Number.POSITIVE_INFINITY,
  }: { readonly colors: boolean; readonly columns?: number | undefined },
): readonly string[] {
  const { dim } = createPaint(colors)
  const texts = rows.map(row => row.map(cell => (typeof cell === 'string' ? cell : cell[0])))
  const widths = heads.map(({ title }, i) =>
    Math.max(stringWidth(title), ...texts.map(row => stringWidth(row[i] ?? ''))),
  )
  shrink(widths, heads, columns - 2 * (heads.length - 1))
  const line = (cells: readonly GridCell[]) =>
    heads
      .map(({ isNumber = false, cutsEnd = false }, i) => {
        const cell = cells[i] ?? ''
        const [text, paint] = typeof cell === 'string' ? [cell, String] : cell
        const width = widths[i] ?? 0
        const shown = shorten(text, width, cutsEnd ? 0 : undefined)
        const space = ' '.repeat(width - stringWidth(shown))
        return isNumber ? space + paint(shown) : paint(shown) + space
      })
      .join('  ')
      .trimEnd()
  return [dim(line(heads.map(({ title }) => title))), ...rows.map(line)]
}

/** Takes from one column after the other, until the widths fit or none may give more. */
function shrink(widths: number[], heads: readonly GridColumn[], available: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) - available
  const order = [...heads.entries()].sort(([, a], [, b]) => (a.yields ?? 0) - (b.yields ?? 0))
  for (const [i, { least = Number.POSITIVE_INFINITY }] of order) {
    const given = Math.max(0, Math.min(excess, (widths[i] ?? 0) - least))
    widths[i] = (widths[i] ?? 0) - given
    excess -= given
  }
}

/**
 * Formats an instant for a terminal: its local time, with the date unless it is today. Elsewhere, where programs read,
 * it stays ISO 8601.
 */
export function timeText(
  instant: string,
  { columns }: { readonly columns?: number | undefined },
  now: Date = new Date(),
): string {
  if (columns === undefined) return instant
  const at = new Date(instant)
  const two = (value: number) => String(value).padStart(2, '0')
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':')
  if (at.toDateString() === now.toDateString()) return time
  const year = at.getFullYear() === now.getFullYear() ? '' : `${at.getFullYear()}-`
  return `${year}${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`
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

/** Shortens text to `columns` columns and keeps both ends, as ids often differ only at the end: a third is of the end. */
export function shorten(
  text: string,
  columns: number,
  endColumns: number = Math.floor((columns - 1) / 3),
): string {
  if (stringWidth(text) <= columns) return text
  const characters = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
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
