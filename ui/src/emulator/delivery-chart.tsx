import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { StatsView } from '../../../packages/emulator/src/api/emulator-api.ts'
import type { DeliveryState } from '../../../packages/emulator/src/shapes/requests.ts'
import { type Bar, BarChart } from '../kit/bar-chart.tsx'
import { spanOf } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { periodHere, selectionHere } from './filters.tsx'
import { STATES } from './states.ts'

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
const ORDER: readonly DeliveryState[] = [
  'acknowledged',
  'pending',
  'undelivered',
  'replayed',
  'discarded',
  'skipped',
]
const MAX_BARS = 60
const LEAST_MS = 5 * MINUTE

/** Charts the states of matching deliveries, over the filter's period or since the first of them. */
export function DeliveryChart() {
  const stats = useResource(loadStats, EVERY_MS)
  return <StatsChart stats={stats.data.value} />
}

/** Shows the chart; without `stats`, an empty one of the same size. */
export function StatsChart({ stats }: { readonly stats: StatsView | undefined }) {
  const period = periodHere()
  return (
    <BarChart
      title={period === undefined ? 'All time' : `Last ${period.name}`}
      detail={stats && `by ${spanOf(stats.widthMs)}`}
      series={ORDER.map(name => ({ name, tone: STATES[name] }))}
      bars={stats && barsFor(stats)}
    />
  )
}

function barsFor({ buckets, widthMs }: StatsView): readonly Bar[] {
  const label = labelFor(widthMs)
  return buckets.map(({ from, counts }) => ({
    label: label.format(new Date(from)),
    values: ORDER.map(state => counts[state] ?? 0),
  }))
}

async function loadStats(signal: AbortSignal): Promise<StatsView> {
  const { from, ...filter } = selectionHere().filter
  const now = emulatorNow.peek()
  const first = from ?? (await oldestOf(filter, signal)) ?? new Date(now).toISOString()
  const { start, end, count } = barsOf(Math.min(Date.parse(first), now - LEAST_MS), now)
  const query = {
    ...filter,
    from: new Date(start).toISOString(),
    to: new Date(end).toISOString(),
    buckets: count,
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

/** Chooses bars of a round width that cover `from` to `now`. */
function barsOf(
  from: number,
  now: number,
): { readonly start: number; readonly end: number; readonly count: number } {
  const fits = WIDTHS_MS.find(one => (now - from) / one <= MAX_BARS)
  const width = fits ?? Math.ceil((now - from) / MAX_BARS / DAY) * DAY
  const start = Math.floor(from / width) * width
  const count = Math.floor((now - start) / width) + 1
  return { start, end: start + count * width, count }
}

function labelFor(widthMs: number): Intl.DateTimeFormat {
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const date = { month: 'short', day: 'numeric' } as const
  if (widthMs < MINUTE) return new Intl.DateTimeFormat(undefined, { ...time, second: '2-digit' })
  if (widthMs < 15 * MINUTE) return new Intl.DateTimeFormat(undefined, time)
  return new Intl.DateTimeFormat(
    undefined,
    widthMs < DAY ? { ...date, ...time } : { ...date, year: 'numeric' },
  )
}
