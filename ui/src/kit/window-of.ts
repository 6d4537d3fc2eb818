/** Height of a row in pixels, equal to `--row` in tokens.css. */
export const ROW_PX = 40
const SPARE_ROWS = 12

/** Returns which of `count` rows to render at scroll position `top`, in a view of `height` pixels. */
export function windowOf(
  count: number,
  top: number,
  height: number,
): { readonly first: number; readonly last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / ROW_PX)) - SPARE_ROWS)
  return { first, last: Math.min(count, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS) }
}
