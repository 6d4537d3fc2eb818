import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'

/** Rows that arrive page by page. */
export interface Paged<Row> {
  readonly rows: Signal<readonly Row[]>
  readonly error: Signal<Error | undefined>
  /** The first page has arrived. */
  readonly ready: Signal<boolean>
  readonly loadMore: () => void
  /** Loads from the first page again. */
  readonly reload: () => void
}

interface PageOf<Row> {
  readonly rows: readonly Row[]
  readonly next: string | undefined
}

/**
 * Loads the first page whenever a signal that `load` reads before its first `await` changes, and one more with each
 * `loadMore()`. A newer first page aborts what an older one still loads.
 */
export function usePaged<Row>(
  load: (after: string | undefined, signal: AbortSignal) => Promise<PageOf<Row>>,
): Paged<Row> {
  const rows = useSignal<readonly Row[]>([])
  const error = useSignal<Error | undefined>(undefined)
  const ready = useSignal(false)
  const turn = useSignal(0)
  const state = useRef<{ next: string | undefined; busy: boolean; abort: AbortController }>({
    next: undefined,
    busy: false,
    abort: new AbortController(),
  })
  const latest = useRef(load)
  latest.current = load
  const fetchPage = (after: string | undefined) => {
    const { abort } = state.current
    state.current.busy = true
    latest.current(after, abort.signal).then(
      page => {
        if (abort.signal.aborted) return
        state.current = { ...state.current, next: page.next, busy: false }
        rows.value = after === undefined ? page.rows : [...rows.peek(), ...page.rows]
        error.value = undefined
        ready.value = true
      },
      (cause: unknown) => {
        if (abort.signal.aborted) return
        state.current.busy = false
        error.value = cause instanceof Error ? cause : new Error(String(cause))
      },
    )
  }
  useSignalEffect(() => {
    turn.value
    const abort = new AbortController()
    state.current = { next: undefined, busy: false, abort }
    fetchPage(undefined)
    return () => abort.abort()
  })
  return {
    rows,
    error,
    ready,
    loadMore() {
      const { next, busy } = state.current
      if (next !== undefined && !busy) fetchPage(next)
    },
    reload() {
      turn.value++
    },
  }
}
