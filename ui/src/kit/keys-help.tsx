import { signal } from '@preact/signals'
import { Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { keysAreOn, keysHere, turnKeys, useKeys } from './keys.ts'

const isOpen = signal(false)

/** Opens the list of keys, which `?` opens too. */
export function KeysButton() {
  return (
    <button type="button" class="plain" onClick={() => (isOpen.value = true)}>
      Keys <kbd>?</kbd>
    </button>
  )
}

/** Lists the keys of the present page. */
export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  useKeys({ '?': () => (isOpen.value = true) }, { '?': 'shows these keys' })
  useLayoutEffect(() => {
    if (isOpen.value && dialog.current?.open === false) dialog.current.showModal()
  }, [isOpen.value])
  if (!isOpen.value) return null
  const isOn = keysAreOn()
  return (
    <dialog ref={dialog} class="stack" aria-labelledby="keys-title" onClose={() => (isOpen.value = false)}>
      <h2 id="keys-title">Keys on this page</h2>
      {!isOn && <p>Single-key shortcuts are off.</p>}
      <dl class="facts">
        {Object.entries(keysHere.value).map(([key, label]) => (
          <Fragment key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{label}</dd>
          </Fragment>
        ))}
      </dl>
      <div class="bar">
        <button type="button" autofocus onClick={() => dialog.current?.close()}>
          Close
        </button>
        <button type="button" class="plain push" onClick={() => turnKeys(!isOn)}>
          {isOn ? 'Turn shortcuts off' : 'Turn shortcuts on'}
        </button>
      </div>
    </dialog>
  )
}
