/** Height of a row in pixels, `--row` of tokens.css. */
export const ROW_PX = 40
const SPARE_ROWS = 12

export interface RowWindow {
  readonly first: number
  /** Index behind the last row kept. */
  readonly last: number
  /** Pixels that stand for the rows above and below. */
  readonly above: number
  readonly below: number
}

/** Which of `count` rows belong into the document when `top` pixels have scrolled out of a view of `height`. */
export function windowOf(count: number, top: number, height: number): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(top / ROW_PX)) - SPARE_ROWS)
  const last = Math.min(count, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS)
  return { first, last, above: first * ROW_PX, below: (count - last) * ROW_PX }
}
