import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { Badge } from '../kit/badge.tsx'
import type { Column } from '../kit/data-table.tsx'
import { Ago } from '../kit/now.tsx'
import { hrefOf } from '../kit/route.ts'
import { emulatorNow } from './emulator-clock.ts'
import { STATES } from './states.ts'

/** The columns of a list of deliveries. */
export const DELIVERY_COLUMNS: readonly Column<DeliveryView>[] = [
  {
    key: 'event',
    label: 'Event',
    cell: row => (
      <a href={hrefOf(['deliveries', row.id])} class="mono">
        {row.event}
      </a>
    ),
  },
  { key: 'type', label: 'Type', width: '12.5rem', cell: row => row.type, rank: 'minor' },
  {
    key: 'state',
    label: 'State',
    width: '9rem',
    cell: row => <Badge tone={STATES[row.state]}>{row.state}</Badge>,
  },
  {
    key: 'kind',
    label: 'Kind',
    width: '5rem',
    rank: 'minor',
    cell: row => (row.kind === 'event' ? '' : row.kind),
  },
  {
    key: 'attempts',
    label: 'Attempts',
    width: '5.5rem',
    numeric: true,
    rank: 'minor',
    cell: row => row.attempts,
  },
  { key: 'status', label: 'Last reply', width: '11rem', rank: 'extra', cell: row => <Reply row={row} /> },
  {
    key: 'at',
    label: 'Created',
    width: '7.5rem',
    rank: 'extra',
    sortable: true,
    cell: row => <Ago at={Date.parse(row.createdAt)} from={emulatorNow} />,
  },
]

function Reply({ row }: { readonly row: DeliveryView }) {
  const { lastStatus, lastCode, lastError } = row
  if (lastStatus !== null) return <span class="mono">{`${lastStatus} ${lastCode ?? ''}`}</span>
  return lastError === null ? null : <span class="mono">{lastError}</span>
}
