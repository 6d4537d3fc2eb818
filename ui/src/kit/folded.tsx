import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { isNarrow } from './narrow.ts'

interface FoldedProps {
  readonly label: string
  /** Folds on wide screens, too. */
  readonly always?: boolean
  readonly children: ComponentChildren
}

/** Shows its content, on a narrow screen only once it is unfolded, so that a list begins high up. */
export function Folded({ label, always = false, children }: FoldedProps) {
  const isOpen = useSignal(false)
  if (!always && !isNarrow.value) return <>{children}</>
  return (
    <details class="folded" open={isOpen.value} onToggle={event => (isOpen.value = event.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen.value && children}
    </details>
  )
}
