import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useEarlyEffect } from './early-effect.ts'
import { Loader } from './loader.ts'

/** Data loaded from the server. */
export interface Resource<T> {
  readonly data: Signal<T | undefined>
  readonly error: Signal<Error | undefined>
  /** Loads the data again. */
  readonly reload: () => void
}

/**
 * Loads on mount, whenever a signal changes that `load` reads before its first `await`, and every `everyMs` while the
 * page is visible. A changed signal aborts the load in progress; a reload waits for it, so that slow servers can
 * reply.
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
