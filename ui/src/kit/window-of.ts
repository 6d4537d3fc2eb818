/** Height of a row in pixels, `--row` of tokens.css. */
export const ROW_PX = 40
const SPARE_ROWS = 12

/** Which of `count` rows belong in the document when `top` pixels have scrolled out of a view of `height`. */
export function windowOf(
  count: number,
  top: number,
  height: number,
): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / ROW_PX)) - SPARE_ROWS)
  return { first, last: Math.min(count, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS) }
}
