import type { ComponentChildren } from 'preact'

/** A control with its label above it. */
export function Field({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child.
    <label class="field">
      {label}
      {children}
    </label>
  )
}
