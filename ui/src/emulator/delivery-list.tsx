import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { confirm } from '../kit/confirm.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { formatCount } from '../kit/format-count.ts'
import { neighbour, useKeys } from '../kit/keys.ts'
import { KeysHint } from '../kit/keys-hint.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { go, setQuery } from '../kit/route.ts'
import { toast } from '../kit/toasts.tsx'
import { visible } from '../kit/visible.ts'
import { DELIVERY_COLUMNS } from './delivery-columns.tsx'
import { orderHere } from './filters.tsx'
import { type LiveDeliveries, useLiveDeliveries } from './live-deliveries.ts'
import { replay } from './replay.ts'

/** A list of deliveries that one can hold to read it. */
export interface HeldList {
  readonly live: LiveDeliveries
  readonly isPaused: boolean
  readonly pause: (paused: boolean) => void
  /** Called as the list scrolls: away from its top, new deliveries wait. */
  readonly onScrolled: (fromTop: number) => void
}

/** The deliveries of the address, live while the list is at its top and not paused. */
export function useHeldList(): HeldList {
  const paused = useSignal(false)
  const scrolled = useRef(false)
  const live = useLiveDeliveries(() => paused.value || scrolled.current)
  const showFresh = () => {
    if (live.fresh.peek() > 0) live.reload()
  }
  return {
    live,
    isPaused: paused.value,
    pause(next) {
      paused.value = next
      if (!next) showFresh()
    },
    onScrolled(top) {
      const wasScrolled = scrolled.current
      scrolled.current = top > 0
      if (wasScrolled && top === 0 && !paused.peek()) showFresh()
    },
  }
}

interface DeliveryListProps {
  readonly caption: string
  readonly list: HeldList
  /** Takes the filters back; undefined without any. */
  readonly clear: (() => void) | undefined
  /** Shown if there is nothing at all. */
  readonly children: ComponentChildren
}

/** The table, with its keys. */
export function DeliveryList({ caption, list: { live, onScrolled }, clear, children }: DeliveryListProps) {
  const current = useSignal<string | undefined>(undefined)
  const { rows, offset, count, hasMore } = live.list.value
  const error = live.error.value
  const move = (step: 1 | -1) => {
    const ids = live.list.peek().rows.map(({ id }) => id)
    current.value = neighbour(ids, current.value, step)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current.value !== undefined && go(['deliveries', current.value]),
    r: () => void replayAsked(live.list.peek().rows.find(({ id }) => id === current.value)),
  })
  return (
    <>
      <Failure error={error} retry={live.reload} isStale={count > 0} />
      {count === 0 && !hasMore && (live.ready.value || error !== undefined) ? (
        <Nothing what="deliveries" error={error} clear={clear}>
          {children}
        </Nothing>
      ) : (
        <DataTable
          caption={caption}
          columns={DELIVERY_COLUMNS}
          rows={rows}
          offset={offset}
          count={count}
          hasMore={hasMore}
          turn={live.turn.value}
          place={live.place}
          rowKey={row => row.id}
          current={current.value}
          sort={{ key: 'at', descending: orderHere() === 'newest' }}
          onSort={({ descending }) => setQuery({ order: descending ? '' : 'oldest' })}
          onView={live.show}
          onScrolled={onScrolled}
        />
      )}
      <KeysHint>
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>r</kbd> replays
      </KeysHint>
    </>
  )
}

/** A key is pressed by mistake more easily than a button. */
async function replayAsked(row: DeliveryView | undefined): Promise<void> {
  if (row === undefined) toast('bad', 'Choose a delivery with j and k first.')
  else if (await confirm(`Replay ${visible(row.event)}?`, 'It is sent again, signed anew.', 'Replay'))
    await replay(row.id, {})
}

/** New deliveries do not push away what one is reading. */
export function Fresh({ live: { fresh, reload } }: { readonly live: LiveDeliveries }) {
  const count = fresh.value
  if (count === 0) return null
  return (
    <button type="button" class="primary" onClick={reload}>
      {Number.isFinite(count) ? `${formatCount(count)} new` : 'Newer ones'}
    </button>
  )
}
