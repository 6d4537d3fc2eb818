import { useSignal } from '@preact/signals'
import type {
  ActivityReport,
  ObservationLine,
  Overview,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { type Column, DataTable, type Sort } from '../kit/data-table.tsx'
import { Badge, Field, type Tone } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { AgoCell, zoneOf } from '../kit/now.tsx'
import { useResource } from '../kit/resource.ts'
import { inOneLine, visible } from '../kit/text.ts'
import { Figures, Types, Verdict, WindowTabs, windowHere } from './activity.tsx'
import { ActivityCharts, Throughput } from './activity-charts.tsx'
import { PauseButton } from './pause.tsx'
import { Processes, Refusals } from './process-panels.tsx'

const EVERY_MS = 4000

interface OverviewParts {
  readonly data: Overview
  /** A failure that the page says already. */
  readonly told: Error | undefined
  readonly reload: () => void
}

/** Whether all is well now, and what happened in the last hour, day or week. */
export function OverviewPage({ data, told, reload }: OverviewParts) {
  const { stats, throughput, processes, here, browsing } = data
  const activity = useResource(
    signal => call<ActivityReport>('api/activity', { query: { window: windowHere() }, signal }),
    EVERY_MS,
  )
  const report = activity.data.value
  const figures = report?.figures
  const error = told === undefined ? activity.error.value : undefined
  return (
    <>
      <div class="bar">
        <h1>Overview</h1>
        <WindowTabs />
        <PauseButton overview={data} onChanged={reload} />
      </div>
      <Failure error={error} retry={activity.reload} isStale={report !== undefined} />
      <Verdict verdict={report?.verdict} states={browsing.states} />
      <Figures stats={stats} report={report} states={browsing.states} />
      {report?.cannotKeep !== undefined && (
        <p class="small quiet">No figures of shares and times: {report.cannotKeep}.</p>
      )}
      {!browsing.states.includes('pending') && (
        <p class="small quiet">
          Pending events are counted but not listed: this inbox has no index of them. On Redis, BullMQ's{' '}
          <code>queue.getWaiting()</code> and <code>queue.getDelayed()</code> read them.
        </p>
      )}
      {stats.waitingError !== undefined && report?.verdict.cause === undefined && (
        <p class="note wait">
          Last error of a pending event: <span class="mono">{inOneLine(stats.waitingError)}</span>
        </p>
      )}
      {report !== undefined && report.cannotKeep !== undefined ? (
        throughput !== undefined && <Throughput minutes={throughput} />
      ) : (
        <ActivityCharts figures={figures} />
      )}
      {figures !== undefined && <Types types={figures.types} />}
      <div class="columns">
        {processes !== undefined && <Processes processes={processes} />}
        {here !== undefined && <Refusals here={here} />}
      </div>
      {here !== undefined && <Observations lines={here.observations} />}
    </>
  )
}

const TONES: Readonly<Record<string, Tone>> = {
  completed: 'good',
  accepted: 'good',
  rejected: 'bad',
  attempt_failed: 'wait',
  dead_lettered: 'bad',
  completion_lost: 'bad',
  failure_lost: 'wait',
  lease_lost: 'wait',
  store_down: 'bad',
  store_slow: 'wait',
}

const COLUMNS: readonly Column<ObservationLine>[] = [
  {
    key: 'at',
    label: `When (${zoneOf()})`,
    width: '12rem',
    sortable: true,
    cell: line => <AgoCell at={line.at} />,
  },
  {
    key: 'kind',
    label: 'Kind',
    width: '9.5rem',
    cell: line => <Badge tone={TONES[line.kind] ?? 'idle'}>{line.kind}</Badge>,
  },
  { key: 'id', label: 'Event', cell: ({ id = '' }) => <span class="mono">{visible(id)}</span> },
  { key: 'type', label: 'Type', width: '12.5rem', cell: ({ type = '' }) => visible(type) },
  { key: 'detail', label: 'Detail', cell: ({ detail = '' }) => inOneLine(detail) },
  {
    key: 'duration',
    label: 'Duration',
    width: '6rem',
    sortable: true,
    numeric: true,
    cell: line => (line.durationMs === undefined ? '' : `${line.durationMs.toFixed(1)} ms`),
  },
]

function orderOf({ key, descending }: Sort): (a: ObservationLine, b: ObservationLine) => number {
  const value = (line: ObservationLine) => (key === 'at' ? line.seq : (line.durationMs ?? -1))
  return (a, b) => (value(a) - value(b)) * (descending ? -1 : 1)
}

function Observations({ lines }: { readonly lines: readonly ObservationLine[] }) {
  const text = useSignal('')
  // All observations are loaded, so the page can sort them.
  const sort = useSignal<Sort>({ key: 'at', descending: true })
  const wanted = text.value.toLowerCase()
  const shown = lines.filter(
    ({ kind, id = '', type = '' }) => wanted === '' || `${kind} ${id} ${type}`.toLowerCase().includes(wanted),
  )
  return (
    <section class="stack" aria-labelledby="observations">
      <div class="bar">
        <h2 id="observations">Seen by this process</h2>
        <div class="push">
          <Field label="Search">
            <input
              type="search"
              value={text.value}
              onInput={event => (text.value = event.currentTarget.value)}
            />
          </Field>
        </div>
      </div>
      {shown.length === 0 ? (
        <Nothing
          what="observations"
          error={undefined}
          clear={lines.length === 0 ? undefined : () => (text.value = '')}
        >
          <p class="quiet">No observations since the dashboard was mounted.</p>
        </Nothing>
      ) : (
        <DataTable
          caption="Last observations of this process"
          columns={COLUMNS}
          rows={shown.toSorted(orderOf(sort.value))}
          rowKey={line => String(line.seq)}
          sort={sort.value}
          onSort={next => (sort.value = next)}
        />
      )}
    </section>
  )
}
