import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CopyButton } from '../kit/elements.tsx'
import { commandOf, flagsOf } from './command-of.ts'
import { DeliveryChart, StatsChart } from './delivery-chart.tsx'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { isTimeKnown } from './emulator-clock.ts'
import { clearing, Filters, isTextTooShort, selectionHere } from './filters.tsx'

export function DeliveriesPage() {
  const list = useHeldList()
  const isPainted = useSignal(false)
  const isReady = list.live.ready.value && isTimeKnown.value && !isTextTooShort(selectionHere())
  // The chart loads its data after the rows are painted.
  useEffect(() => {
    isPainted.value = isReady
  }, [isReady])
  return (
    <>
      <div class="bar">
        <h1>Deliveries</h1>
        <div class="bar push">
          <Fresh live={list.live} />
          <CopyButton
            label="Copy command"
            text={() => commandOf(['list'], flagsOf(selectionHere().filter))}
          />
          <button type="button" aria-pressed={list.isPaused} onClick={() => list.pause(!list.isPaused)}>
            {list.isPaused ? 'Resume' : 'Pause'}
          </button>
        </div>
      </div>
      <Filters />
      {isPainted.value && isReady ? <DeliveryChart /> : <StatsChart stats={undefined} />}
      <DeliveryList caption="Deliveries" list={list} clear={clearing()}>
        <Empty />
      </DeliveryList>
    </>
  )
}

function Empty() {
  const command = `curl -X POST ${location.origin}/_emulator/v1/events -H 'content-type: application/json' -H 'x-ackhook: 1' -d '{"events":[{"type":"conversation.resolved"}]}'`
  return (
    <>
      <h2>No deliveries yet</h2>
      <p>
        Try <code>npx ackhook emulator send conversation.resolved</code>, the Send page, or:
      </p>
      <code class="source">{command}</code>
      <CopyButton label="Copy" text={() => command} />
    </>
  )
}
