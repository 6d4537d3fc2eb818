import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

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
  const error = useSignal<Error | undefined>(undefined)
  const turn = useSignal(0)
  const state = useRef({ busy: false, again: false })
  const latest = useRef(load)
  latest.current = load
  const settled = () => {
    state.current.busy = false
    if (state.current.again) reload()
  }
  useSignalEffect(() => {
    turn.value
    const abort = new AbortController()
    state.current = { busy: true, again: false }
    latest.current(abort.signal).then(
      value => {
        if (abort.signal.aborted) return
        data.value = value
        error.value = undefined
        settled()
      },
      (cause: unknown) => {
        if (abort.signal.aborted) return
        error.value = cause instanceof Error ? cause : new Error(String(cause))
        settled()
      },
    )
    return () => abort.abort()
  })
  function reload(): void {
    if (state.current.busy) state.current.again = true
    else turn.value++
  }
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !state.current.busy) reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return { data, error, reload }
}
