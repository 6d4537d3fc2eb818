import { useMemo } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { StatsView } from '../../../packages/emulator/src/api/emulator-api.ts'
import type { DeliveryState } from '../../../packages/emulator/src/shapes/requests.ts'
import { Chart, type ChartData, type ChartPoint, type ChartSeries } from '../kit/chart.tsx'
import { spanOf } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { setQuery } from '../kit/route.ts'
import { formatCount } from '../kit/text.ts'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { periodHere, selectionHere } from './filters.tsx'

const EVERY_MS = 5000
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Bar widths: round units of time. */
const WIDTHS_MS: readonly number[] = [
  ...[1, 5, 15, 30].map(count => count * SECOND),
  ...[1, 2, 5, 15, 30].map(count => count * MINUTE),
  ...[1, 3, 6, 12].map(count => count * HOUR),
  ...[1, 7, 30].map(count => count * DAY),
]
/** The states, from the bottom of a bar to its top. */
const SERIES: readonly (ChartSeries & { readonly name: DeliveryState })[] = [
  { name: 'acknowledged', tone: 'good' },
  { name: 'pending', tone: 'wait' },
  { name: 'undelivered', tone: 'bad' },
  { name: 'replayed', tone: 'accent' },
  { name: 'discarded', tone: 'idle' },
  { name: 'skipped', tone: 'faint' },
]
const MAX_BARS = 60
const LEAST_MS = 5 * MINUTE

/** Charts the states of matching deliveries, over the filter's period or since the first of them. */
export function DeliveryChart() {
  const stats = useResource(loadStats, EVERY_MS)
  return <StatsChart stats={stats.data.value} />
}

/** Shows the chart; without `stats`, an empty one of the same size. A time chosen in it becomes the filter. */
export function StatsChart({ stats }: { readonly stats: StatsView | undefined }) {
  const data = useMemo(() => stats && dataOf(stats), [stats])
  return (
    <Chart
      title={titleHere()}
      detail={data && detailOf(data)}
      series={SERIES}
      data={data}
      onRange={(from, to) =>
        setQuery({ period: '', from: new Date(from).toISOString(), to: new Date(to).toISOString() })
      }
    />
  )
}

function titleHere(): string {
  const period = periodHere()
  if (period !== undefined) return `Last ${period.name}`
  return selectionHere().filter['from'] === undefined ? 'All time' : 'Chosen time'
}

function dataOf({ buckets, widthMs }: StatsView): ChartData {
  const points = buckets.map(({ from, counts }) => ({
    at: Date.parse(from),
    values: SERIES.map(({ name }) => counts[name] ?? 0),
  }))
  return { points, widthMs }
}

function detailOf({ points, widthMs }: ChartData): string {
  const sumOf = ({ values }: ChartPoint) => values.reduce((sum: number, value) => sum + (value ?? 0), 0)
  const most = Math.max(0, ...points.map(sumOf))
  return `deliveries by ${spanOf(widthMs)}, at most ${formatCount(most)}`
}

async function loadStats(signal: AbortSignal): Promise<StatsView> {
  const { from, to, ...filter } = selectionHere().filter
  const now = emulatorNow.peek()
  const end = to === undefined ? now + 1 : Date.parse(to)
  const first = from ?? (await oldestOf(filter, signal)) ?? new Date(end).toISOString()
  const least = to === undefined ? LEAST_MS : 0
  const bars = barsOf(Math.min(Date.parse(first), end - least), end)
  const query = {
    ...filter,
    from: new Date(bars.start).toISOString(),
    to: new Date(bars.end).toISOString(),
    buckets: bars.count,
  }
  return api<StatsView>('stats', { query, signal })
}

async function oldestOf(
  filter: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = { ...filter, order: 'oldest', limit: 1 }
  const { deliveries } = await api<{ deliveries: readonly DeliveryView[] }>('deliveries', { query, signal })
  return deliveries[0]?.createdAt
}

/** Chooses bars of a round width that cover `from` to before `to`. */
function barsOf(
  from: number,
  to: number,
): { readonly start: number; readonly end: number; readonly count: number } {
  const fits = WIDTHS_MS.find(one => Math.floor((to - from) / one) <= MAX_BARS)
  const width = fits ?? Math.ceil((to - from) / MAX_BARS / DAY) * DAY
  const start = Math.floor(from / width) * width
  const count = Math.max(1, Math.ceil((to - start) / width))
  return { start, end: start + count * width, count }
}
