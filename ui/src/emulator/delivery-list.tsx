import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { confirm } from '../kit/confirm.tsx'
import { DataTable, KeysHint } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { neighbor, useKeys } from '../kit/keys.ts'
import { Nothing } from '../kit/nothing.tsx'
import { fieldName } from '../kit/payload-field.tsx'
import { go, setQuery } from '../kit/route.ts'
import { formatCount, visible } from '../kit/text.ts'
import { toast } from '../kit/toasts.tsx'
import { CompactDelivery, deliveryColumns } from './delivery-columns.tsx'
import { type LiveDeliveries, useLiveDeliveries } from './live-deliveries.ts'
import { replay } from './replay.ts'

/** A live list of deliveries that can be paused for reading. */
export interface HeldList {
  readonly live: LiveDeliveries
  readonly isPaused: boolean
  readonly pause: (paused: boolean) => void
  /** Called on scroll. Away from the top, new deliveries are held back. */
  readonly onScrolled: (fromTop: number) => void
}

/** Returns deliveries for the filters in the address. They are live at the top of the list unless paused. */
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
  /** Clears the filters; undefined if there are none. */
  readonly clear: (() => void) | undefined
  /** Shown if there are no deliveries at all. */
  readonly children: ComponentChildren
}

/** Shows the table, with keyboard shortcuts. */
export function DeliveryList({ caption, list: { live, onScrolled }, clear, children }: DeliveryListProps) {
  const current = useSignal<string | undefined>(undefined)
  const { rows, offset, count, hasMore } = live.list.value
  const error = live.error.value
  const field = fieldName.value
  const columns = useMemo(() => deliveryColumns(field), [field])
  const move = (step: 1 | -1) => {
    const ids = live.list.peek().rows.map(({ id }) => id)
    current.value = neighbor(ids, current.value, step)
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
          columns={columns}
          compact={CompactDelivery}
          rows={rows}
          offset={offset}
          count={count}
          hasMore={hasMore}
          turn={live.turn.value}
          place={live.place}
          rowKey={row => row.id}
          current={current.value}
          sort={{ key: 'at', descending: live.of.value?.order !== 'oldest' }}
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

/** Replays after a confirmation, because keys are easily pressed by mistake. */
async function replayAsked(row: DeliveryView | undefined): Promise<void> {
  if (row === undefined) toast('bad', 'Select a delivery with j and k first.')
  else if (await confirm(`Replay ${visible(row.event)}?`, 'It is sent again with a new signature.', 'Replay'))
    await replay(row.id, {})
}

/** Shows the number of new deliveries held back, so that rows in view do not move. */
export function Fresh({ live: { fresh, reload } }: { readonly live: LiveDeliveries }) {
  const count = fresh.value
  if (count === 0) return null
  return (
    <button type="button" class="primary" onClick={reload}>
      {Number.isFinite(count) ? `${formatCount(count)} new` : 'Show newer'}
    </button>
  )
}
