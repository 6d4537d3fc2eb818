import { type Signal, useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { keptHere } from '../kit/kept-here.ts'
import type { PageOf, PageWindow } from '../kit/page-window.ts'
import { PAGE_ROWS } from '../kit/page-window.ts'
import { type Paged, usePaged } from '../kit/paged.ts'
import type { Selection } from '../kit/selection.ts'
import { api } from './api.ts'
import { isTextTooShort, selectionHere } from './filters.tsx'
import { useNotices } from './live.ts'
import { mergeDeliveries } from './merge-deliveries.ts'

/** Maximum number of held-back deliveries that are counted. */
const MAX_FRESH = 1000
/** Maximum number of changes kept while a page loads. */
const MAX_ARRIVED = 5000
const LOOK_MS = 10_000

export interface LiveDeliveries extends Omit<Paged<DeliveryView, Selection>, 'change'> {
  /** Number of new deliveries held back; `Infinity` if uncounted. */
  readonly fresh: Signal<number>
}

interface Live {
  /** Ids of new deliveries held back. */
  fresh: Set<string>
  /** Changes that arrived while a page loaded, which may be older than they are. */
  arrived: readonly DeliveryView[]
  /** `seq` of the newest delivery that the list has shown. */
  newest: number
  /** `true` if the user has returned to the list, and nothing has loaded since. */
  isLeft: boolean
}

/**
 * Returns the deliveries for the address, kept up to date. While `held` returns true, new ones are held back until a
 * reload.
 */
export function useLiveDeliveries(held: () => boolean): LiveDeliveries {
  const fresh = useSignal(0)
  const live = useMemo(liveHere, [])
  const merge = (pages: PageWindow<DeliveryView>, changed: readonly DeliveryView[], isHeld: boolean) => {
    const { newest } = live
    const { filter, order } = paged.of.peek() ?? selectionHere()
    const options = { filter, oldestFirst: order === 'oldest', held: isHeld, newest }
    const waiting = mergeDeliveries(pages, changed, options)
    for (const { id } of changed) live.fresh.delete(id)
    for (const { id } of waiting) live.fresh.add(id)
    if (live.fresh.size > MAX_FRESH) loseCount()
    if (fresh.peek() !== Number.POSITIVE_INFINITY) fresh.value = live.fresh.size
    if (pages.isAtTop) live.newest = Math.max(live.newest, pages.view().rows[0]?.seq ?? 0)
  }
  const loseCount = () => {
    live.fresh.clear()
    fresh.value = Number.POSITIVE_INFINITY
  }
  const paged = usePaged<DeliveryView, Selection>(selectionHere, loadDeliveries, (pages, isFirst) => {
    const { arrived } = live
    live.arrived = []
    if (isFirst) {
      live.fresh.clear()
      fresh.value = 0
      live.newest = pages.view().rows[0]?.seq ?? 0
    }
    if (live.isLeft && !isFirst && !pages.isAtTop) void lookForNewer()
    live.isLeft = false
    merge(pages, arrived, !isFirst && held())
  })
  /** Checks whether deliveries arrived while the user was elsewhere, without counting them. */
  const lookForNewer = async () => {
    const here = selectionHere()
    const page = await loadDeliveries(here, undefined, AbortSignal.timeout(LOOK_MS), 1).catch(() => undefined)
    if ((page?.rows[0]?.seq ?? 0) > live.newest && here.order === '') loseCount()
  }
  const changes = usePerFrame((deliveries: readonly DeliveryView[]) => {
    if (paged.isLoading()) live.arrived = [...live.arrived, ...deliveries].slice(-MAX_ARRIVED)
    paged.change(pages => merge(pages, deliveries, held()))
  })
  useNotices(notice => {
    if (notice.event === 'deliveries') changes(notice.data.deliveries)
    else if (notice.event === 'reset' || (notice.event === 'gap' && !held())) paged.reload()
    else if (notice.event === 'gap') loseCount()
  })
  return { ...paged, fresh }
}

/** Returns the list's state from when the user left it, without held-back deliveries. */
function liveHere(): Live {
  const fresh = () => ({ fresh: new Set<string>(), arrived: [], newest: 0, isLeft: false })
  const { value, isOld } = keptHere<Live>('live', fresh)
  return Object.assign(value, { fresh: new Set(), arrived: [], isLeft: isOld })
}

async function loadDeliveries(
  of: Selection,
  after: string | undefined,
  signal: AbortSignal,
  limit = PAGE_ROWS,
): Promise<PageOf<DeliveryView>> {
  if (isTextTooShort(of)) return { rows: [], next: undefined }
  const query = { ...of.filter, order: of.order, limit, after }
  const { deliveries, next } = await api<{ deliveries: readonly DeliveryView[]; next: string | null }>(
    'deliveries',
    { query, signal },
  )
  return { rows: deliveries, next: next ?? undefined }
}

/** Batches items that arrive between two paints. */
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
