import type { ComponentChildren } from 'preact'
import { keysAreOn, turnKeys } from './keys.ts'

/** Explains the single-key shortcuts, and turns them off or on. */
export function KeysHint({ children }: { readonly children: ComponentChildren }) {
  const isOn = keysAreOn()
  return (
    <p class="small quiet">
      {isOn ? children : 'Single-key shortcuts are off.'}{' '}
      <button type="button" class="plain small" onClick={() => turnKeys(!isOn)}>
        {isOn ? 'Turn shortcuts off' : 'Turn shortcuts on'}
      </button>
    </p>
  )
}
