import { useMemo } from 'preact/hooks'
import type { ActivityFigures, Minute } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { Chart, type ChartSeries } from '../kit/chart.tsx'
import { spanOf } from '../kit/now.tsx'
import { timeText } from './activity.tsx'

const ATTEMPTS: readonly ChartSeries[] = [
  { name: 'handled', tone: 'good' },
  { name: 'failed', tone: 'bad' },
  { name: 'received', tone: 'accent', line: 'solid' },
]
const TIMES: readonly ChartSeries[] = [
  { name: 'wait p95', tone: 'wait', line: 'dashed' },
  { name: 'handler time p95', tone: 'accent', line: 'solid' },
]

/** What came and how it ended, and how long it took. Undefined while loading. */
export function ActivityCharts({ figures }: { readonly figures: ActivityFigures | undefined }) {
  const data = useMemo(() => figures && dataOf(figures), [figures])
  const detail = figures && `by ${spanOf(figures.slotMs)}`
  return (
    <div class="columns">
      <Chart
        title="Attempts"
        detail={detail}
        series={ATTEMPTS}
        data={data?.attempts}
        figures={figures && [figures.total.handled, figures.total.failed, figures.total.accepted].map(String)}
      />
      <Chart title="Times" detail={detail} series={TIMES} data={data?.times} format={timeText} />
    </div>
  )
}

function dataOf({ series, slotMs: widthMs }: ActivityFigures) {
  return {
    attempts: {
      widthMs,
      points: series.map(({ at, handled, failed, accepted }) => ({
        at,
        values: [handled, failed, accepted],
      })),
    },
    times: {
      widthMs,
      points: series.map(({ at, lag, handlerTime }) => ({ at, values: [lag?.p95, handlerTime?.p95] })),
    },
  }
}

const ENDED: readonly ChartSeries[] = [
  { name: 'handled', tone: 'good' },
  { name: 'dead letters', tone: 'bad' },
]

/** The last hour of an inbox that keeps no other figures. */
export function Throughput({ minutes }: { readonly minutes: readonly Minute[] }) {
  const points = minutes.map(({ at, handled, deadLettered }) => ({ at, values: [handled, deadLettered] }))
  return <Chart title="Last hour" detail="by minute" series={ENDED} data={{ points, widthMs: 60_000 }} />
}
