import { useSignal } from '@preact/signals'
import type {
  Here,
  LiveProcess,
  Minute,
  ObservationLine,
  Overview,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { BarChart } from '../kit/bar-chart.tsx'
import { type Column, DataTable, type Sort } from '../kit/data-table.tsx'
import { Badge, Field, type Tone } from '../kit/elements.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { Ago, AgoCell, spanOf, zoneOf } from '../kit/now.tsx'
import { formatCount, inOneLine, visible } from '../kit/text.ts'
import { LastHour } from './last-hour.tsx'
import { PauseButton } from './pause.tsx'

export function OverviewPage({ data, reload }: { readonly data: Overview; readonly reload: () => void }) {
  const { stats, throughput, processes, here, browsing } = data
  return (
    <>
      <div class="bar">
        <h1>Overview</h1>
        <PauseButton overview={data} onChanged={reload} />
      </div>
      <dl class="figures">
        <Figure label="Pending" value={formatCount(stats.pending)} />
        <Figure label="Active" value={formatCount(stats.active)} />
        <Figure label="Dead letters" value={formatCount(stats.dead)} />
        <Figure
          label="Oldest pending"
          value={stats.oldestPendingMs === 0 ? '–' : spanOf(stats.oldestPendingMs)}
        />
      </dl>
      {!browsing.states.includes('pending') && (
        <p class="small quiet">
          Pending events are counted but not listed: this inbox has no index of them. On Redis, BullMQ's{' '}
          <code>queue.getWaiting()</code> and <code>queue.getDelayed()</code> read them.
        </p>
      )}
      {stats.waitingError !== undefined && (
        <p class="note wait">
          Last error of a pending event: <span class="mono">{inOneLine(stats.waitingError)}</span>
        </p>
      )}
      {throughput !== undefined &&
        (throughput.every(({ received }) => received !== undefined) ? (
          <LastHour minutes={throughput} depth={stats.pending + stats.active} />
        ) : (
          <Throughput minutes={throughput} />
        ))}
      <div class="columns">
        {processes !== undefined && <Processes processes={processes} />}
        {here !== undefined && <Refusals here={here} />}
      </div>
      {here !== undefined && <Observations lines={here.observations} />}
    </>
  )
}

function Figure({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Throughput({ minutes }: { readonly minutes: readonly Minute[] }) {
  const bars = minutes.map(({ at, handled, deadLettered }) => ({
    label: new Date(at).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }),
    values: [handled, deadLettered],
  }))
  return <BarChart title="Last hour" detail="by minute" series={SERIES} bars={bars} />
}

const SERIES = [
  { name: 'handled', tone: 'good' },
  { name: 'dead letters', tone: 'bad' },
] as const

function Processes({ processes }: { readonly processes: readonly LiveProcess[] }) {
  return (
    <section class="panel" aria-labelledby="processes">
      <h2 id="processes">Processes using this inbox</h2>
      {processes.length === 0 && <p class="quiet">None at the moment.</p>}
      {processes.map(one => (
        <LiveProcessLine key={one.id} process={one} />
      ))}
    </section>
  )
}

const SILENT_MS = 30_000

function LiveProcessLine({ process }: { readonly process: LiveProcess }) {
  const { id, process: name, version, startedAt, patterns, onUnhandled, seenMs } = process
  const handles = [...patterns, ...(onUnhandled ? ['anything else'] : [])]
  return (
    <div>
      <div class="bar">
        <span class="mono">{visible(name === '' ? id : name)}</span>
        {seenMs > SILENT_MS ? (
          <Badge tone="wait">silent for {spanOf(seenMs)}</Badge>
        ) : (
          <Badge tone="good">live</Badge>
        )}
        <span class="push small quiet">
          {version}, started <Ago at={startedAt} />
        </span>
      </div>
      <div class="small">
        {handles.length === 0 ? 'no handlers' : handles.map(one => visible(one)).join(', ')}
      </div>
    </div>
  )
}

function Refusals({ here }: { readonly here: Here }) {
  return (
    <section class="panel" aria-labelledby="refusals">
      <h2 id="refusals">Refused by this process</h2>
      {here.refusals.length === 0 && <p class="quiet">No requests refused since it started.</p>}
      <ul class="timeline">
        {here.refusals.map(({ code, status, count, lastAt, detail }) => (
          <li key={code} class={status >= 500 ? 'bad' : 'wait'}>
            <span class="mono">
              {status} {code}
            </span>{' '}
            × {formatCount(count)}{' '}
            <span class="quiet small">
              last <Ago at={lastAt} />
            </span>
            {detail !== undefined && <div class="small quiet">{inOneLine(detail)}</div>}
          </li>
        ))}
      </ul>
    </section>
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
