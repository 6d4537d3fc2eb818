import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

const OFF = 'ackhook-keys-off'
const off = signal(localStorage.getItem(OFF) !== null)

/** Whether single keys are commands. Speech input and a slip of the hand press them too, so they can be turned off. */
export function keysAreOn(): boolean {
  return !off.value
}

/** Turns single keys on or off in this browser. */
export function turnKeys(on: boolean): void {
  off.value = !on
  if (on) localStorage.removeItem(OFF)
  else localStorage.setItem(OFF, '1')
}

/** Single-key commands, off when turned off, while a field has the focus, a dialog is open, or a modifier is held. */
export function useKeys(commands: Readonly<Record<string, () => void>>): void {
  // Those of the rows in the document: an effect would bring them up to 100 ms after the rows.
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

/** The key of the row `step` below (or above) the current one, kept inside the list. */
export function neighbour(
  keys: readonly string[],
  current: string | undefined,
  step: 1 | -1,
): string | undefined {
  const at = current === undefined ? -1 : keys.indexOf(current)
  return keys[Math.max(0, Math.min(keys.length - 1, at < 0 ? 0 : at + step))]
}
