import { type Signal, useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { ListPlace } from './data-table.tsx'
import { useEarlyEffect } from './early-effect.ts'
import { keptHere } from './kept-here.ts'
import { Loader } from './loader.ts'
import { type PageOf, type PageRequest, PageWindow, type RowsHeld } from './page-window.ts'
import type { Selection } from './selection.ts'

/** A list that loads page by page and holds some pages. */
export interface Paged<Row, Of extends Selected = Selected> {
  readonly list: Signal<RowsHeld<Row>>
  /** The selection that the rows belong to. Undefined while there are none to show. */
  readonly of: Signal<Of | undefined>
  /** Returns whether the rows belong to what the address selects, and not to what it selected before. */
  readonly isCurrent: () => boolean
  readonly error: Signal<Error | undefined>
  /** `true` once the first page has loaded. */
  readonly ready: Signal<boolean>
  /** Increases with each new or resumed list. */
  readonly turn: Signal<number>
  /** Initial and current scroll position. */
  readonly place: ListPlace
  readonly isLoading: () => boolean
  /** Loads missing rows from `first` to before `last`, and releases distant ones. */
  readonly show: (first: number, last: number) => void
  /** Reloads from the first page, after a load in progress. */
  readonly reload: () => void
  /** Changes the rows held. */
  readonly change: (change: (pages: PageWindow<Row>) => void) => void
}

type Selected = Pick<Selection, 'address'>

interface State<Row, Of> extends ListPlace {
  pages: PageWindow<Row>
  /** The selection of `pages`. */
  of: Of | undefined
  /** The rows in view. */
  view: readonly [first: number, last: number]
  /** `true` if a reload was requested during a load. */
  isStale: boolean
  start: number
  top: number
  /** `true` if the user returned to the list. */
  isResumed: boolean
}

/**
 * Loads the first page of what `select` returns, and again whenever a signal changes that it reads. Calls `onPage` for
 * each loaded page before it is shown. If the first page of another selection cannot be loaded, no rows are shown.
 */
export function usePaged<Row, Of extends Selected>(
  select: () => Of,
  load: (of: Of, after: string | undefined, signal: AbortSignal) => Promise<PageOf<Row>>,
  onPage?: (pages: PageWindow<Row>, isFirst: boolean) => void,
): Paged<Row, Of> {
  const list = useSignal<RowsHeld<Row>>({ rows: [], offset: 0, count: 0, hasMore: false })
  const shown = useSignal<Of | undefined>(undefined)
  const ready = useSignal(false)
  const turn = useSignal(0)
  const asked = useSignal(0)
  const loader = useMemo(() => new Loader(), [])
  const state = useMemo(() => stateHere<Row, Of>(), [])
  const latest = useRef({ select, load, onPage })
  latest.current = { select, load, onPage }
  const publish = () => {
    list.value = state.pages.view()
    shown.value = state.of
  }
  const fetchPage = (request: PageRequest, pages: PageWindow<Row>, of: Of) =>
    loader.run(
      signal => latest.current.load(of, request.after, signal),
      page => {
        pages.put(request, page)
        const isFirst = state.pages !== pages
        if (isFirst) Object.assign(state, { pages, of, view: [0, 0], start: 0, isResumed: false })
        if (isFirst || !ready.peek()) turn.value++
        latest.current.onPage?.(pages, isFirst)
        ready.value = true
        fill()
      },
      () => {
        if (state.of !== undefined && state.of.address !== of.address) {
          Object.assign(state, { pages: new PageWindow(), of: undefined, view: [0, 0], start: 0 })
          publish()
        }
        if (state.isStale) reload()
      },
    )
  /** Loads the next page missing from the view, if any. */
  const fill = () => {
    const { pages, view, of } = state
    pages.keepNear(...view)
    publish()
    const request = pages.missing(...view)
    if (of !== undefined && request !== undefined && !loader.isBusy && !state.isStale)
      fetchPage(request, pages, of)
  }
  useEarlyEffect(() => {
    asked.value
    const of = latest.current.select()
    state.isStale = false
    const isSame = state.of?.address === of.address
    const left = state.isResumed && isSame && !ready.peek() ? state.pages.missing(...state.view) : undefined
    if (left !== undefined && state.of !== undefined) fetchPage(left, state.pages, state.of)
    else fetchPage({ index: 0, after: undefined }, new PageWindow(), of)
    return () => loader.stop()
  })
  const reload = () => {
    if (loader.isBusy) state.isStale = true
    else asked.value++
  }
  return {
    list,
    of: shown,
    isCurrent: () => shown.value?.address === select().address,
    error: loader.error,
    ready,
    turn,
    place: state,
    isLoading: () => loader.isBusy,
    show(...view) {
      // Until the first load, the view is that of the user's last visit.
      if (!ready.peek()) return
      state.view = view
      if (!loader.isBusy) fill()
    },
    reload,
    change(apply) {
      apply(state.pages)
      if (loader.isBusy) publish()
      else fill()
    },
  }
}

/** Returns this history entry's state of the list, without rows, or a new state. */
function stateHere<Row, Of>(): State<Row, Of> {
  const fresh = () => ({
    pages: new PageWindow<Row>(),
    of: undefined,
    view: [0, 0] as const,
    isStale: false,
    start: 0,
    top: 0,
    isResumed: false,
  })
  const { value, isOld } = keptHere<State<Row, Of>>('list', fresh)
  value.start = value.top
  value.isResumed = isOld && value.top > 0
  value.pages.letGo()
  return value
}
