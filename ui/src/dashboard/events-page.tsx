import { useEffect, useMemo } from 'preact/hooks'
import type { Browsing, EventRow, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { type Column, DataTable } from '../kit/data-table.tsx'
import { Cut } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Folded } from '../kit/folded.tsx'
import { Nothing } from '../kit/nothing.tsx'
import { AgoCell, now as clock, distance, zoneOf } from '../kit/now.tsx'
import { usePaged } from '../kit/paged.ts'
import { fieldName } from '../kit/payload-field.tsx'
import { inOneLine, visible } from '../kit/text.ts'
import { useTitle } from '../kit/title.ts'
import { EmulatorLink } from './emulator-link.tsx'
import { clearing, Filters, filtersLabel, filtersTitle, selectionAt, selectionHere } from './filters.tsx'
import { loadEvents } from './load-events.ts'
import { fieldColumns } from './payload-field.tsx'
import { TraceFact } from './trace.tsx'

/** A row with the time of its next attempt by this machine's clock, if the inbox reports it. */
interface Row extends EventRow {
  readonly dueAt: number | undefined
  readonly emulatorUrl: string | undefined
}

const TYPE: Column<Row> = {
  key: 'type',
  label: 'Type',
  cell: row => <Cut text={visible(row.type)} />,
  width: '11.5rem',
}
const COLUMNS: readonly Column<Row>[] = [
  { key: 'reason', label: 'Last error', cell: ({ reason = '' }) => <Cut text={inOneLine(reason)} /> },
  { key: 'attempts', label: 'Attempts', cell: row => row.attempts, numeric: true, width: '5.5rem' },
  { key: 'id', label: 'Event', cell: row => <Id {...row} /> },
  { key: 'namespace', label: 'Namespace', cell: row => <Cut text={visible(row.namespace)} />, width: '8rem' },
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
function useColumns(rows: readonly Row[], bodies: boolean): readonly Column<Row>[] {
  const optional = {
    namespace: rows.some(({ namespace }) => namespace !== ''),
    due: rows.some(({ dueAt }) => dueAt !== undefined),
    reason: rows.some(({ reason }) => reason !== undefined),
  }
  return useMemo(() => {
    const shown = COLUMNS.filter(({ key }) => optional[key as keyof typeof optional] ?? true)
    const at = shown.findIndex(({ key }) => key === 'id')
    return [TYPE, ...shown.slice(0, at), ...fieldColumns(bodies), ...shown.slice(at)]
  }, [...Object.values(optional), bodies, fieldName.value])
}

function Id({ id, emulatorUrl }: Row) {
  return (
    <EmulatorLink emulatorUrl={emulatorUrl} id={id}>
      <Cut text={visible(id)} />
    </EmulatorLink>
  )
}

/** An event in two lines, for a phone. */
function CompactEvent(row: Row) {
  const { type, receivedAt, attempts, reason } = row
  return (
    <div class="two-lines">
      <b>{visible(type)}</b>
      <span class="small quiet">{distance(receivedAt - clock.value)}</span>
      <span class="mono">
        <Id {...row} />
      </span>
      <span class="small quiet">{reason === undefined ? `attempts: ${attempts}` : inOneLine(reason)}</span>
    </div>
  )
}

interface EventsPageProps {
  readonly state: Browsing['states'][number]
  readonly overview: Overview
}

/** Lists pending or active events, read-only because their processes own them. */
export function EventsPage({ state, overview }: EventsPageProps) {
  const { now, browsing, bodies, traceUrl, emulatorUrl } = overview
  useTitle(filtersTitle())
  const isPending = state === 'pending'
  const isOne = selectionHere.value.filter.id !== undefined
  const toRow = (row: EventRow): Row => ({
    ...row,
    dueAt: row.dueInMs === undefined ? undefined : Date.now() + row.dueInMs,
    emulatorUrl,
  })
  const paged = usePaged(
    () => selectionAt(now),
    ({ filter }, after, signal) => loadEvents('api/events', { ...filter, state, after }, signal, toRow),
  )
  // Reloads with each overview while the list is at its top.
  useEffect(() => {
    if (paged.ready.peek() && paged.place.top === 0) paged.reload()
  }, [now])
  const { count, ...list } = paged.list.value
  const error = paged.error.value
  const columns = useColumns(list.rows, bodies)
  const traceId = isOne && count === 1 ? list.rows[0]?.traceId : undefined
  return (
    <>
      <div class="bar">
        <h1>{isPending ? 'Pending' : 'Active'}</h1>
        <span class="small quiet">live at the top of the list</span>
        <button type="button" class="push" onClick={paged.reload}>
          Refresh
        </button>
      </div>
      <Folded label={filtersLabel()}>
        <Filters filters={browsing.filters} bodies={bodies} />
      </Folded>
      <Failure error={error} retry={paged.reload} isStale={count > 0} />
      {traceId !== undefined && <TraceFact id={traceId} url={traceUrl} />}
      {count === 0 && (paged.ready.value || error !== undefined) ? (
        <Nothing what={`${state} events`} error={error} clear={clearing()}>
          <h2>{isPending ? 'No pending events' : 'No active events'}</h2>
        </Nothing>
      ) : (
        <DataTable
          caption={isPending ? 'Pending events' : 'Active events'}
          columns={columns}
          compact={CompactEvent}
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
