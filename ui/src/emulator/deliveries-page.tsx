import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { StatsView } from '../../../packages/emulator/src/api/emulator-api.ts'
import { BarChart } from '../kit/bar-chart.tsx'
import { CopyButton } from '../kit/copy-button.tsx'
import { DataTable } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { neighbour, useKeys } from '../kit/keys.ts'
import { useResource } from '../kit/resource.ts'
import { go } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { DELIVERY_COLUMNS } from './delivery-columns.tsx'
import { Filters, filterHere, isFiltered, isTextTooShort } from './filters.tsx'
import { type LiveDeliveries, useLiveDeliveries } from './live-deliveries.ts'
import { replay } from './replay.ts'

export function DeliveriesPage() {
  const paused = useSignal(false)
  const scrolled = useRef(false)
  const live = useLiveDeliveries(() => paused.value || scrolled.current)
  const current = useSignal<string | undefined>(undefined)
  const rows = live.rows.value
  const move = (step: 1 | -1) => {
    const ids = rows.map(({ id }) => id)
    current.value = neighbour(ids, current.value, step)
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current.value !== undefined && go(['deliveries', current.value]),
    r: () => void attempt(() => replay(current.value, {})),
  })
  const onScrolled = (top: number) => {
    scrolled.current = top > 0
    if (!scrolled.current && !paused.value && live.fresh.value.length > 0) live.showFresh()
  }
  return (
    <>
      <div class="bar">
        <h1>Deliveries</h1>
        <div class="bar push">
          <Fresh live={live} />
          <button
            type="button"
            aria-pressed={paused.value}
            onClick={() => {
              paused.value = !paused.value
              if (!paused.value) live.showFresh()
            }}
          >
            {paused.value ? 'Resume' : 'Pause'}
          </button>
        </div>
      </div>
      <Filters />
      {isTextTooShort() && (
        <p class="note wait">A text needs three characters or more: the index holds no shorter ones.</p>
      )}
      <Chart />
      <Failure error={live.error.value} retry={live.reload} />
      {live.ready.value && rows.length === 0 ? (
        <Empty />
      ) : (
        <DataTable
          caption="Deliveries"
          columns={DELIVERY_COLUMNS}
          rows={rows}
          rowKey={row => row.id}
          current={current.value}
          onNearEnd={live.loadMore}
          onScrolled={onScrolled}
        />
      )}
      <p class="small quiet">
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens, <kbd>r</kbd> replays
      </p>
    </>
  )
}

/** New deliveries do not push away what one is reading. */
function Fresh({ live }: { readonly live: LiveDeliveries }) {
  const count = live.fresh.value.length
  const missed = live.missed.value
  if (count === 0 && !missed) return null
  return (
    <button type="button" class="primary" onClick={live.showFresh}>
      {missed ? 'Many new' : `${count.toLocaleString()} new`}
    </button>
  )
}

function Chart() {
  const stats = useResource(signal => {
    const { from: _, ...filter } = filterHere()
    return isTextTooShort()
      ? Promise.reject(new Error('too short'))
      : api<StatsView>('stats', { query: filter, signal })
  }, 5000)
  const data = stats.data.value
  if (data === undefined) return null
  const bars = data.buckets.map(({ from, counts }) => ({
    label: new Date(from).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }),
    values: { good: counts.acknowledged ?? 0, wait: counts.pending ?? 0, bad: counts.undelivered ?? 0 },
  }))
  const names = { good: 'acknowledged', wait: 'pending', bad: 'undelivered' }
  return <BarChart title="Last hour" bars={bars} names={names} />
}

function Empty() {
  if (isFiltered()) {
    return (
      <div class="empty">
        <h2>No delivery matches</h2>
        <p class="quiet">Change or clear the filters above.</p>
      </div>
    )
  }
  const command = `curl -X POST ${location.origin}/_emulator/v1/events -H 'content-type: application/json' -H 'x-ackhook: 1' -d '{"events":[{"type":"conversation.resolved"}]}'`
  return (
    <div class="empty">
      <h2>Nothing was sent yet</h2>
      <p>
        Try <code>npx ackhook emulator send conversation.resolved</code>, the page Send, or
      </p>
      <code class="source">{command}</code>
      <CopyButton label="Copy" text={() => command} />
    </div>
  )
}
