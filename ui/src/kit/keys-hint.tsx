import type { ComponentChildren } from 'preact'
import { keysAreOn, turnKeys } from './keys.ts'

/** Says what single keys do, and turns them off. */
export function KeysHint({ children }: { readonly children: ComponentChildren }) {
  const isOn = keysAreOn()
  return (
    <p class="small quiet">
      {isOn ? children : 'Single keys are off.'}{' '}
      <button type="button" class="plain small" onClick={() => turnKeys(!isOn)}>
        {isOn ? 'Turn these keys off' : 'Turn them on'}
      </button>
    </p>
  )
}
