import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'wait' | 'bad' | 'idle'

/** A state in words. Shape and words say it as well as the colour. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}
