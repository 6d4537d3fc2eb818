import { computed, type ReadonlySignal, signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

const OFF = 'ackhook-keys-off'
const off = signal(localStorage.getItem(OFF) !== null)

/** Returns whether single-key shortcuts are on. They can be off, as speech input and slips press them too. */
export function keysAreOn(): boolean {
  return !off.value
}

/** Turns single-key shortcuts on or off in this browser. */
export function turnKeys(on: boolean): void {
  off.value = !on
  if (on) localStorage.removeItem(OFF)
  else localStorage.setItem(OFF, '1')
}

/** What keys do, as in `r: redrives`. */
export type KeyLabels = Readonly<Record<string, string>>

const labelsShown = signal<ReadonlyMap<object, KeyLabels>>(new Map())

/** What the keys of the present page do. */
export const keysHere: ReadonlySignal<KeyLabels> = computed(() =>
  Object.assign({}, ...labelsShown.value.values()),
)

/**
 * Adds single-key shortcuts. They are ignored in fields and dialogs, with a modifier, or when turned off. Those with a
 * label are listed by `?`.
 */
export function useKeys(commands: Readonly<Record<string, () => void>>, labels: KeyLabels = {}): void {
  useLayoutEffect(() => {
    const owner = {}
    labelsShown.value = new Map([...labelsShown.peek(), [owner, labels]])
    return () => {
      labelsShown.value = new Map([...labelsShown.peek()].filter(([one]) => one !== owner))
    }
  }, [JSON.stringify(labels)])
  // Updated during render: an effect would lag behind the rows by up to 100 ms.
  const latest = useRef(commands)
  latest.current = commands
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (off.peek() || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null)
        return
      // Enter belongs to the link or button that has the focus.
      if (
        event.key === 'Enter' &&
        event.target instanceof Element &&
        event.target.closest('a, button, summary') !== null
      )
        return
      const command = latest.current[event.key]
      if (command === undefined) return
      event.preventDefault()
      command()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Returns the key of the row `step` below or above the current one, within the list. */
export function neighbor(
  keys: readonly string[],
  current: string | undefined,
  step: 1 | -1,
): string | undefined {
  const at = current === undefined ? -1 : keys.indexOf(current)
  return keys[Math.max(0, Math.min(keys.length - 1, at < 0 ? 0 : at + step))]
}
