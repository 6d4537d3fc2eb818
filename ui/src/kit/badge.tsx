import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'wait' | 'bad' | 'idle'

/** Shows a state by words and shape, not only by color. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
