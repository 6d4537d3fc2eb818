import { type ReadonlySignal, signal } from '@preact/signals'

const query = matchMedia('(max-width: 45rem)')
const narrow = signal(query.matches)
query.addEventListener('change', () => {
  narrow.value = query.matches
})

/** `true` on a phone, or in a narrow window: the same limit as in kit.css. */
export const isNarrow: ReadonlySignal<boolean> = narrow
