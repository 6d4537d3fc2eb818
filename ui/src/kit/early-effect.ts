import { effect, signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Runs `run` before the component is painted, and again whenever a signal that it read has changed; what it answers
 * runs before that, and at the end. `useSignalEffect` waits for the paint, and so would a request that it sends.
 */
export function useEarlyEffect(run: () => () => void): void {
  useLayoutEffect(() => {
    const turn = signal(0)
    let isDue = true
    return effect(() => {
      turn.value
      isDue = !isDue
      if (!isDue) return run()
      // After the components have followed the change: one that it removes must not ask for anything.
      const timer = setTimeout(() => turn.value++)
      return () => clearTimeout(timer)
    })
  }, [])
}
