/** Shows exact text. It can get the focus, because it scrolls. */
export function Source({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="source" aria-label={label} tabIndex={0}>
      <pre>{text}</pre>
    </section>
  )
}
