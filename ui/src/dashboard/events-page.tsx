import type { Browsing, EventPage, EventRow } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { type Column, DataTable } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { Ago, distance } from '../kit/now.tsx'
import { PAGE_ROWS } from '../kit/page-window.ts'
import { usePaged } from '../kit/paged.ts'
import { Filters, filtersHere } from './filters.tsx'

const COLUMNS: readonly Column<EventRow>[] = [
  { key: 'id', label: 'Event', cell: row => <bdi class="mono">{row.id}</bdi> },
  { key: 'type', label: 'Type', cell: row => <bdi>{row.type}</bdi> },
  { key: 'namespace', label: 'Namespace', cell: row => row.namespace, rank: 'minor', width: '8rem' },
  {
    key: 'attempts',
    label: 'Attempts',
    cell: row => row.attempts,
    numeric: true,
    rank: 'minor',
    width: '6rem',
  },
  { key: 'receivedAt', label: 'Received', cell: row => <Ago at={row.receivedAt} />, width: '9rem' },
  {
    key: 'due',
    label: 'Next attempt',
    cell: ({ dueInMs }) => dueInMs !== undefined && distance(dueInMs),
    rank: 'extra',
    width: '9rem',
  },
]

interface EventsPageProps {
  readonly state: Browsing['states'][number]
  readonly filters: Browsing['filters']
}

/** Events that wait or run. To look at only: their processes own them. */
export function EventsPage({ state, filters }: EventsPageProps) {
  const paged = usePaged<EventRow>(async (after, signal) => {
    const query = { ...filtersHere(), state, after, limit: PAGE_ROWS }
    const { events, next } = await call<EventPage>('api/events', { query, signal })
    return { rows: events, next }
  })
  const { count, ...list } = paged.list.value
  return (
    <>
      <div class="bar">
        <h1>{state === 'pending' ? 'Pending' : 'Active'}</h1>
        <button type="button" class="push" onClick={paged.reload}>
          Refresh
        </button>
      </div>
      <Filters filters={filters} />
      <Failure error={paged.error.value} retry={paged.reload} />
      {paged.ready.value && count === 0 ? (
        <div class="empty">
          <h2>{state === 'pending' ? 'Nothing waits' : 'Nothing is running'}</h2>
        </div>
      ) : (
        <DataTable
          caption={state === 'pending' ? 'Pending events' : 'Active events'}
          columns={COLUMNS}
          {...list}
          count={count}
          turn={paged.turn.value}
          rowKey={row => row.key}
          onView={paged.show}
        />
      )}
    </>
  )
}
