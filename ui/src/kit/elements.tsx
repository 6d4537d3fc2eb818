import type { ComponentChildren } from 'preact'
import { copy } from './toasts.tsx'

/** Shows a control with a label above it. */
export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child.
    <label class="field">
      {label}
      {children}
    </label>
  )
}

export type Tone = 'good' | 'wait' | 'bad' | 'idle'

/** Shows a state by words and shape, not only by color. */
export function Badge({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** Text that a narrow column may cut. */
export function Cut({ text }: { readonly text: string }) {
  return <span title={text}>{text}</span>
}

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  return (
    <button type="button" onClick={() => void copy(text())}>
      {label}
    </button>
  )
}

/** Shown until a page's data arrives. */
export function Loading() {
  return <h1 class="quiet">Loading …</h1>
}

/** Shows exact text. It can get the focus, because it scrolls. */
export function Source({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="source" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  )
}
