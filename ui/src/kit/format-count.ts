/** Formats a number with thousands separators. `toLocaleString` loads tables, which delays the first list. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
