/** Returns a Markdown table: the first column is text, the others are figures. */
export function table(head, rows) {
  const lines = [head, head.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]
  return lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

/** `1.23 (1.20 to 1.31)`: a figure and its interval. */
export function showRatio({ middle, low, high }) {
  return `${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** Shows a ratio with its interval, marked as undecided if the interval is too wide. */
export function showDecided(interval) {
  return interval.isNarrow ? showRatio(interval) : `undecided, ${showRatio(interval)}`
}

/** Shows three significant digits, with a thousands separator: `12,300`, `1.53`. */
export function showNumber(value) {
  if (!Number.isFinite(value)) return '-'
  if (value >= 100) return Number(value.toPrecision(3)).toLocaleString('en-GB')
  return String(Number(value.toPrecision(3)))
}

export function showBytes(bytes) {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`
  return `${Math.round(bytes / 1_000_000)} MB`
}
