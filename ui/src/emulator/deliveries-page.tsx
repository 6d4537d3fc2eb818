import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CopyButton } from '../kit/copy-button.tsx'
import { DeliveryChart, StatsChart } from './delivery-chart.tsx'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { isTimeKnown } from './emulator-clock.ts'
import { Filters, isFiltered } from './filters.tsx'

export function DeliveriesPage() {
  const list = useHeldList()
  const isPainted = useSignal(false)
  const isReady = list.live.ready.value && isTimeKnown.value
  // The figures of the chart are asked for after the rows are painted.
  useEffect(() => {
    isPainted.value = isReady
  }, [isReady])
  return (
    <>
      <div class="bar">
        <h1>Deliveries</h1>
        <div class="bar push">
          <Fresh live={list.live} />
          <button type="button" aria-pressed={list.isPaused} onClick={() => list.pause(!list.isPaused)}>
            {list.isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </div>
      <Filters />
      {isPainted.value ? <DeliveryChart /> : <StatsChart stats={undefined} />}
      <DeliveryList caption="Deliveries" list={list} empty={<Empty />} />
    </>
  )
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
