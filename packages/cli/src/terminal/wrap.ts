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
