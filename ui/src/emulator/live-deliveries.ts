import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { api } from './api.ts'
import { filterHere, isTextTooShort } from './filters.tsx'
import { useNotices } from './live.ts'
import { MAX_ROWS, mergeDeliveries, type Tail } from './merge-deliveries.ts'

const PAGE = 100

export interface LiveDeliveries {
  readonly rows: Signal<readonly DeliveryView[]>
  /** New ones that are held back while the list is paused or scrolled. */
  readonly fresh: Signal<readonly DeliveryView[]>
  /** Changes were missed while the list was held. */
  readonly missed: Signal<boolean>
  readonly error: Signal<Error | undefined>
  readonly ready: Signal<boolean>
  readonly loadMore: () => void
  readonly reload: () => void
  /** Puts what was held back on top. */
  readonly showFresh: () => void
}

interface Loading {
  hasMore: boolean
  busy: boolean
  abort: AbortController
  /** What changed while the first page was under way: the page may be older than that. */
  arrived: DeliveryView[]
}

/** The deliveries that match the address, newest first, kept up to date. `held` says that new ones must wait. */
export function useLiveDeliveries(held: () => boolean): LiveDeliveries {
  const tail: { readonly [Name in keyof Tail]: Signal<Tail[Name]> } = {
    rows: useSignal<readonly DeliveryView[]>([]),
    fresh: useSignal<readonly DeliveryView[]>([]),
  }
  const error = useSignal<Error | undefined>(undefined)
  const ready = useSignal(false)
  const missed = useSignal(false)
  const turn = useSignal(0)
  const loading = useRef<Loading>({ hasMore: false, busy: false, abort: new AbortController(), arrived: [] })
  const changes = usePerFrame((deliveries: readonly DeliveryView[]) => {
    if (loading.current.busy) loading.current.arrived.push(...deliveries)
    const before = { rows: tail.rows.peek(), fresh: tail.fresh.peek() }
    const after = mergeDeliveries(before, deliveries, {
      filter: filterHere(),
      held: held(),
      hasMore: loading.current.hasMore,
    })
    if (after.rows.length === MAX_ROWS) loading.current.hasMore = true
    tail.rows.value = after.rows
    tail.fresh.value = after.fresh
  })
  const load = (after: string | undefined) => {
    const { abort } = loading.current
    loading.current.busy = true
    const query = { ...filterHere(), limit: PAGE, ...(after !== undefined && { after }) }
    api<{ deliveries: readonly DeliveryView[]; next: string | null }>('deliveries', {
      query,
      signal: abort.signal,
    }).then(
      ({ deliveries, next }) => {
        if (abort.signal.aborted) return
        const { arrived } = loading.current
        const hasMore = next !== null
        loading.current = { abort, hasMore, busy: false, arrived: [] }
        const loaded = after === undefined ? deliveries : [...tail.rows.peek(), ...deliveries]
        tail.rows.value = mergeDeliveries({ rows: loaded, fresh: [] }, after === undefined ? arrived : [], {
          filter: filterHere(),
          held: false,
          hasMore,
        }).rows
        error.value = undefined
        ready.value = true
      },
      (cause: Error) => {
        if (abort.signal.aborted) return
        loading.current.busy = false
        error.value = cause
      },
    )
  }
  useSignalEffect(() => {
    turn.value
    filterHere()
    if (isTextTooShort()) return
    const abort = new AbortController()
    loading.current = { hasMore: false, busy: false, abort, arrived: [] }
    tail.fresh.value = []
    missed.value = false
    load(undefined)
    return () => abort.abort()
  })
  const reload = () => {
    turn.value++
  }
  useNotices(notice => {
    if (notice.event === 'deliveries') changes(notice.data.deliveries)
    else if (notice.event === 'reset' || (notice.event === 'gap' && !held())) reload()
    else if (notice.event === 'gap') missed.value = true
  })
  return {
    ...tail,
    missed,
    error,
    ready,
    reload,
    loadMore() {
      const last = tail.rows.peek().at(-1)
      if (last !== undefined && loading.current.hasMore && !loading.current.busy) load(String(last.seq))
    },
    showFresh() {
      if (missed.value) return reload()
      const { rows } = mergeDeliveries({ rows: tail.rows.peek(), fresh: [] }, tail.fresh.peek(), {
        filter: {},
        held: false,
        hasMore: false,
      })
      tail.rows.value = rows
      tail.fresh.value = []
    },
  }
}

/** Gathers what arrives between two paints: a page cannot show more often. */
function usePerFrame<T>(apply: (items: readonly T[]) => void): (items: readonly T[]) => void {
  const waiting = useRef<T[]>([])
  const latest = useRef(apply)
  latest.current = apply
  return items => {
    if (waiting.current.length === 0) {
      requestAnimationFrame(() => {
        latest.current(waiting.current.splice(0))
      })
    }
    waiting.current.push(...items)
  }
}
