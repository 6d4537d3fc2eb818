import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { isNarrow } from './narrow.ts'

/** Shows its content, on a narrow screen only once it is unfolded, so that a list begins high up. */
export function Folded({
  label,
  children,
}: {
  readonly label: string
  readonly children: ComponentChildren
}) {
  const isOpen = useSignal(false)
  if (!isNarrow.value) return <>{children}</>
  return (
    <details class="folded" open={isOpen.value} onToggle={event => (isOpen.value = event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen.value && children}
    </details>
  )
}
