import { useEffect, useMemo } from 'preact/hooks'
import type { Browsing, EventRow, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { type Column, DataTable } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { AgoCell, zoneOf } from '../kit/now.tsx'
import { usePaged } from '../kit/paged.ts'
import { visible } from '../kit/text.ts'
import { clearing, Filters, selectionHere } from './filters.tsx'
import { loadEvents } from './load-events.ts'

/** A row with the time of its next attempt by this machine's clock, if the inbox reports it. */
interface Row extends EventRow {
  readonly dueAt: number | undefined
}

const COLUMNS: readonly Column<Row>[] = [
  { key: 'id', label: 'Event', cell: row => <span class="mono">{visible(row.id)}</span> },
  { key: 'type', label: 'Type', cell: row => visible(row.type), width: '12.5rem' },
  { key: 'namespace', label: 'Namespace', cell: row => visible(row.namespace), width: '8rem' },
  { key: 'attempts', label: 'Attempts', cell: row => row.attempts, numeric: true, width: '5.5rem' },
  {
    key: 'receivedAt',
    label: `Received (${zoneOf()})`,
    cell: row => <AgoCell at={row.receivedAt} />,
    width: '12.5rem',
  },
  {
    key: 'due',
    label: `Next attempt (${zoneOf()})`,
    cell: ({ dueAt }) => dueAt !== undefined && <AgoCell at={dueAt} />,
    width: '12.5rem',
  },
]

/** Returns the columns, without empty ones. */
function useColumns(rows: readonly Row[]): readonly Column<Row>[] {
  const hasNamespace = rows.some(({ namespace }) => namespace !== '')
  const hasDue = rows.some(({ dueAt }) => dueAt !== undefined)
  return useMemo(
    () => COLUMNS.filter(({ key }) => (key !== 'namespace' || hasNamespace) && (key !== 'due' || hasDue)),
    [hasNamespace, hasDue],
  )
}

interface EventsPageProps {
  readonly state: Browsing['states'][number]
  readonly overview: Overview
}

function toRow(row: EventRow): Row {
  return { ...row, dueAt: row.dueInMs === undefined ? undefined : Date.now() + row.dueInMs }
}

/** Lists pending or active events, read-only because their processes own them. */
export function EventsPage({ state, overview: { now, browsing } }: EventsPageProps) {
  const isPending = state === 'pending'
  const paged = usePaged(
    () => selectionHere.value,
    ({ filter }, after, signal) => loadEvents('api/events', { ...filter, state, after }, signal, toRow),
  )
  // Reloads with each overview while the list is at its top.
  useEffect(() => {
    if (paged.ready.peek() && paged.place.top === 0) paged.reload()
  }, [now])
  const { count, ...list } = paged.list.value
  const error = paged.error.value
  const columns = useColumns(list.rows)
  return (
    <>
      <div class="bar">
        <h1>{isPending ? 'Pending' : 'Active'}</h1>
        <span class="small quiet">live at the top of the list</span>
        <button type="button" class="push" onClick={paged.reload}>
          Refresh
        </button>
      </div>
      <Filters filters={browsing.filters} />
      <Failure error={error} retry={paged.reload} isStale={count > 0} />
      {count === 0 && (paged.ready.value || error !== undefined) ? (
        <Nothing what={`${state} events`} error={error} clear={clearing()}>
          <h2>{isPending ? 'No pending events' : 'No active events'}</h2>
        </Nothing>
      ) : (
        <DataTable
          caption={isPending ? 'Pending events' : 'Active events'}
          columns={columns}
          {...list}
          count={count}
          turn={paged.turn.value}
          place={paged.place}
          rowKey={row => row.key}
          onView={paged.show}
        />
      )}
    </>
  )
}
