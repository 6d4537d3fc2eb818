import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useEarlyEffect } from './early-effect.ts'
import { Loader } from './loader.ts'

/** What a page shows of something that the server has. */
export interface Resource<T> {
  readonly data: Signal<T | undefined>
  readonly error: Signal<Error | undefined>
  /** Loads it again now. */
  readonly reload: () => void
}

/**
 * Loads when the component appears and whenever a signal that `load` reads before its first `await` changes; with
 * `everyMs` again and again while the page is visible. A change of a signal aborts the load under way; a reload waits for
 * it, so that a slow server is shown and not asked forever.
 */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Resource<T> {
  const data = useSignal<T | undefined>(undefined)
  const turn = useSignal(0)
  const loader = useMemo(() => new Loader(), [])
  const isStale = useRef(false)
  const latest = useRef(load)
  latest.current = load
  useEarlyEffect(() => {
    turn.value
    isStale.current = false
    loader.run(
      signal => latest.current(signal),
      value => {
        data.value = value
      },
      () => isStale.current && reload(),
    )
    return () => loader.stop()
  })
  function reload(): void {
    if (loader.isBusy) isStale.current = true
    else turn.value++
  }
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !loader.isBusy) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return { data, error: loader.error, reload }
}
