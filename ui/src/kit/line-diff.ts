/** A line of both texts, or of only the older or newer one. */
export interface DiffLine {
  readonly change: 'same' | 'gone' | 'new'
  readonly text: string
}

/** Number of lines beyond which texts are compared as a whole, as the table below grows with their product. */
const MOST = 500

/** Compares two texts line by line, by their longest common subsequence. */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length > MOST || after.length > MOST)
    return [...before.map(text => lineOf('gone', text)), ...after.map(text => lineOf('new', text))]
  const width = after.length + 1
  const common = new Uint16Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] =
        before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]]
    if (old === fresh && old !== undefined) {
      lines.push(lineOf('same', old))
      i++
      j++
    } else if (fresh === undefined || (old !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(lineOf('gone', old ?? ''))
      i++
    } else {
      lines.push(lineOf('new', fresh))
      j++
    }
  }
  return lines
}

function lineOf(change: DiffLine['change'], text: string): DiffLine {
  return { change, text }
}
