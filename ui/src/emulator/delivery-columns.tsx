import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { Column } from '../kit/data-table.tsx'
import { Badge } from '../kit/elements.tsx'
import { AgoCell, zoneOf } from '../kit/now.tsx'
import { hrefOf } from '../kit/route.ts'
import { visible } from '../kit/text.ts'
import { emulatorNow } from './emulator-clock.ts'
import { STATES, wordsOf } from './states.ts'

/** Columns of a list of deliveries. */
export const DELIVERY_COLUMNS: readonly Column<DeliveryView>[] = [
  {
    key: 'event',
    label: 'Event',
    cell: row => (
      <a href={hrefOf(['deliveries', row.id])} class="mono">
        {visible(row.event)}
      </a>
    ),
  },
  {
    key: 'state',
    label: 'State',
    width: '8.75rem',
    cell: row => <Badge tone={STATES[row.state]}>{row.state}</Badge>,
  },
  {
    key: 'status',
    label: 'Last reply',
    width: '11rem',
    cell: row => <span class="mono">{replyOf(row)}</span>,
  },
  {
    key: 'type',
    label: 'Type',
    width: '12.5rem',
    cell: ({ type }) => visible(type),
  },
  {
    key: 'marks',
    label: 'What happened',
    width: '12rem',
    cell: row => {
      const words = wordsOf(row)
      return (
        <span class="badges" title={words.join(', ')}>
          {words.map(word => (
            <Badge key={word} tone="idle">
              {word}
            </Badge>
          ))}
        </span>
      )
    },
  },
  {
    key: 'order',
    label: 'No. / arrival',
    width: '7.25rem',
    numeric: true,
    cell: ({ seq, arrival }) => `${seq} / ${arrival ?? '–'}`,
  },
  {
    key: 'at',
    label: `Created (${zoneOf()})`,
    width: '12rem',
    sortable: true,
    cell: row => <AgoCell at={Date.parse(row.createdAt)} from={emulatorNow} />,
  },
]

/** Formats the last reply. */
export function replyOf({ lastStatus, lastCode, lastError }: DeliveryView): string {
  return visible(lastStatus === null ? (lastError ?? '') : `${lastStatus} ${lastCode ?? ''}`)
}
