import { effect, signal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Runs `run` before the component is painted, and again whenever a signal it read changes. The function it returns
 * runs before that and on unmount. `useSignalEffect` waits for the paint, which would delay requests.
 */
export function useEarlyEffect(run: () => () => void): void {
  useLayoutEffect(() => {
    const turn = signal(0)
    let isDue = true
    return effect(() => {
      turn.value
      isDue = !isDue
      if (!isDue) return run()
      // Waits until components have rendered the change: a removed one must send no request.
      const timer = setTimeout(() => turn.value++)
      return () => clearTimeout(timer)
    })
  }, [])
}
