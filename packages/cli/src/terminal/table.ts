import stringWidth from 'fast-string-width'

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
