import { type Signal, useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { ListPlace } from './data-table.tsx'
import { useEarlyEffect } from './early-effect.ts'
import { keptHere } from './kept-here.ts'
import { Loader } from './loader.ts'
import { type PageOf, type PageRequest, PageWindow, type RowsHeld } from './page-window.ts'

/** A list that arrives page by page, and of which some pages are held. */
export interface Paged<Row> {
  readonly list: Signal<RowsHeld<Row>>
  readonly error: Signal<Error | undefined>
  /** The first page has arrived. */
  readonly ready: Signal<boolean>
  /** Grows with each list that begins anew, or where the user left it. */
  readonly turn: Signal<number>
  /** Where the list begins, and is scrolled to. */
  readonly place: ListPlace
  readonly isLoading: () => boolean
  /** Loads what is missing of the rows from `first` to before `last`, and lets go of what is far from them. */
  readonly show: (first: number, last: number) => void
  /** Loads from the first page again, once the page under way has arrived. */
  readonly reload: () => void
  /** Changes what is held. */
  readonly change: (change: (pages: PageWindow<Row>) => void) => void
}

interface State<Row> extends ListPlace {
  pages: PageWindow<Row>
  /** The rows in view. */
  view: readonly [first: number, last: number]
  /** Asked to load again while a page was under way. */
  isStale: boolean
  start: number
  top: number
  /** The user came back to it. */
  isResumed: boolean
}

/**
 * Loads the first page whenever a signal that `load` reads before its first `await` changes. `onPage` is called when
 * a page has arrived, before it is shown.
 */
export function usePaged<Row>(
  load: (after: string | undefined, signal: AbortSignal) => Promise<PageOf<Row>>,
  onPage?: (pages: PageWindow<Row>, isFirst: boolean) => void,
): Paged<Row> {
  const list = useSignal<RowsHeld<Row>>({ rows: [], offset: 0, count: 0, hasMore: false })
  const ready = useSignal(false)
  const turn = useSignal(0)
  const asked = useSignal(0)
  const loader = useMemo(() => new Loader(), [])
  const state = useMemo(() => stateHere<Row>(), [])
  const latest = useRef({ load, onPage })
  latest.current = { load, onPage }
  const publish = () => {
    list.value = state.pages.view()
  }
  const fetchPage = (request: PageRequest, pages: PageWindow<Row>) =>
    loader.run(
      signal => latest.current.load(request.after, signal),
      page => {
        pages.put(request, page)
        const isFirst = state.pages !== pages
        if (isFirst) Object.assign(state, { pages, view: [0, 0], start: 0, isResumed: false })
        if (isFirst || !ready.peek()) turn.value++
        latest.current.onPage?.(pages, isFirst)
        ready.value = true
        fill()
      },
      () => state.isStale && reload(),
    )
  /** Loads the next page that the view lacks, if there is one. */
  const fill = () => {
    const { pages, view } = state
    pages.keepNear(...view)
    publish()
    const request = pages.missing(...view)
    if (request !== undefined && !loader.isBusy && !state.isStale) fetchPage(request, pages)
  }
  useEarlyEffect(() => {
    asked.value
    state.isStale = false
    const left = state.isResumed && !ready.peek() ? state.pages.missing(...state.view) : undefined
    if (left !== undefined) fetchPage(left, state.pages)
    else fetchPage({ index: 0, after: undefined }, new PageWindow())
    return () => loader.stop()
  })
  const reload = () => {
    if (loader.isBusy) state.isStale = true
    else asked.value++
  }
  return {
    list,
    error: loader.error,
    ready,
    turn,
    place: state,
    isLoading: () => loader.isBusy,
    show(...view) {
      // Until then, what is in view is what the user had left.
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

/** Where this list was left at this entry of the history, without its rows; otherwise its beginning. */
function stateHere<Row>(): State<Row> {
  const fresh = () => ({
    pages: new PageWindow<Row>(),
    view: [0, 0] as const,
    isStale: false,
    start: 0,
    top: 0,
    isResumed: false,
  })
  const { value, isOld } = keptHere<State<Row>>('list', fresh)
  value.start = value.top
  value.isResumed = isOld && value.top > 0
  value.pages.letGo()
  return value
}
