/** A number with its thousands apart. `toLocaleString` loads the browser's tables first, which holds up the first list. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}
