import type { ComponentChildren } from 'preact'

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
