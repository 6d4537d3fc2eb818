import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { CopyButton } from '../kit/elements.tsx'
import { Folded } from '../kit/folded.tsx'
import { commandOf, flagsOf } from './command-of.ts'
import { DeliveryChart, StatsChart } from './delivery-chart.tsx'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { isTimeKnown } from './emulator-clock.ts'
import { clearing, Filters, filtersLabel, isTextTooShort, selectionHere } from './filters.tsx'
import { Greeting } from './greeting.tsx'

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
      <Folded label={filtersLabel()}>
        <Filters />
      </Folded>
      <Folded label="Chart">
        {isPainted.value && isReady ? <DeliveryChart /> : <StatsChart stats={undefined} />}
      </Folded>
      <DeliveryList caption="Deliveries" list={list} clear={clearing()}>
        <Greeting />
      </DeliveryList>
    </>
  )
}
