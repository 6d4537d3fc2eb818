/** Instead of a page that needs what is still on its way. */
export function Loading() {
  return <h1 class="quiet">Loading …</h1>
}
