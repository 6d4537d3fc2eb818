/** Shown until a page's data arrives. */
export function Loading() {
  return <h1 class="quiet">Loading …</h1>
}
