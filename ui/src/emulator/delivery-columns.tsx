import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import { replyTextOf } from '../../../packages/emulator/src/shapes/reply-filter.ts'
import type { Column } from '../kit/data-table.tsx'
import { Badge } from '../kit/elements.tsx'
import { AgoCell, distance, spanOf, zoneOf } from '../kit/now.tsx'
import { hrefOf } from '../kit/route.ts'
import { visible } from '../kit/text.ts'
import { emulatorNow } from './emulator-clock.ts'
import { FieldCell } from './payload-field.tsx'
import { STATES, wordsOf } from './states.ts'

/** Text that a narrow column may cut. */
function Cut({ text, mono = false }: { readonly text: string; readonly mono?: boolean }) {
  return (
    <span class={mono ? 'mono' : undefined} title={text}>
      {text}
    </span>
  )
}

/** Columns of a list of deliveries: what happened to what, before the ids. */
export function deliveryColumns(field: string): readonly Column<DeliveryView>[] {
  return [
    STATE,
    { key: 'type', label: 'Type', width: '9.75rem', cell: ({ type }) => <Cut text={visible(type)} /> },
    {
      key: 'status',
      label: 'Last reply',
      width: '8rem',
      cell: row => <Cut text={replyOf(row) || visible(row.reason ?? '')} mono />,
    },
    { key: 'marks', label: 'What happened', width: '9rem', cell: row => <Happened row={row} /> },
    {
      key: 'tries',
      label: 'Tries / took',
      width: '6.25rem',
      numeric: true,
      cell: ({ attempts, lastDurationMs }) =>
        `${attempts} / ${lastDurationMs === null ? '–' : spanOf(lastDurationMs, 1)}`,
    },
    ...(field === '' ? [] : [fieldColumn(field)]),
    { key: 'event', label: 'Event', cell: row => <EventLink row={row} /> },
    {
      key: 'order',
      label: 'No. / arrival',
      width: '7rem',
      numeric: true,
      cell: ({ seq, arrival }) => `${seq} / ${arrival ?? '–'}`,
    },
    {
      key: 'at',
      label: `Created (${zoneOf()})`,
      width: '10.25rem',
      sortable: true,
      cell: row => <AgoCell at={Date.parse(row.createdAt)} from={emulatorNow} />,
    },
  ]
}

const STATE: Column<DeliveryView> = {
  key: 'state',
  label: 'State',
  width: '8rem',
  cell: row => <Badge tone={STATES[row.state]}>{row.state}</Badge>,
}

function fieldColumn(field: string): Column<DeliveryView> {
  return { key: 'field', label: visible(field), width: '8rem', cell: ({ id }) => <FieldCell id={id} /> }
}

function EventLink({ row }: { readonly row: DeliveryView }) {
  return (
    <a href={hrefOf(['deliveries', row.id])} class="mono" title={visible(row.event)}>
      {visible(row.event)}
    </a>
  )
}

function Happened({ row }: { readonly row: DeliveryView }) {
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
}

/** A delivery in two lines, for a phone. */
export function CompactDelivery(row: DeliveryView) {
  const reply = replyOf(row) || visible(row.reason ?? '')
  return (
    <div class="two-lines">
      <span>
        <Badge tone={STATES[row.state]}>{row.state}</Badge> {visible(row.type)}
      </span>
      <span class="small quiet">{distance(Date.parse(row.createdAt) - emulatorNow.value)}</span>
      <EventLink row={row} />
      <span class="mono small">
        {row.attempts > 1 ? `${row.attempts} × ` : ''}
        {reply}
      </span>
    </div>
  )
}

/** Formats the last reply. */
export function replyOf(row: DeliveryView): string {
  return visible(replyTextOf(row))
}
