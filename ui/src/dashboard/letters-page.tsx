import { type Signal, useSignal } from '@preact/signals'
import type { EventPage, EventRow, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { type Column, DataTable } from '../kit/data-table.tsx'
import { Failure } from '../kit/failure.tsx'
import { formatCount } from '../kit/format-count.ts'
import { neighbour, useKeys } from '../kit/keys.ts'
import { Ago } from '../kit/now.tsx'
import { PAGE_ROWS } from '../kit/page-window.ts'
import { type Paged, usePaged } from '../kit/paged.ts'
import { go, hrefOf, route, setQuery } from '../kit/route.ts'
import { changeLetters, changeMatching } from './change-letters.ts'
import { Filters, filtersHere } from './filters.tsx'
import { LetterGroups } from './letter-groups.tsx'
import { NewLetters, useNewLetters } from './new-letters.tsx'

const COLUMNS: readonly Column<EventRow>[] = [
  {
    key: 'id',
    label: 'Event',
    cell: row => (
      <a href={hrefOf(['letters', row.key])} class="mono">
        <bdi>{row.id}</bdi>
      </a>
    ),
  },
  { key: 'type', label: 'Type', cell: row => <bdi>{row.type}</bdi>, rank: 'minor', width: '13rem' },
  { key: 'namespace', label: 'Namespace', cell: row => row.namespace, rank: 'minor', width: '8rem' },
  { key: 'reason', label: 'Last error', cell: row => <bdi>{row.reason}</bdi>, rank: 'extra' },
  {
    key: 'attempts',
    label: 'Attempts',
    cell: row => row.attempts,
    numeric: true,
    rank: 'minor',
    width: '5.5rem',
  },
  {
    key: 'failedAt',
    label: 'Failed',
    cell: row => <Ago at={row.failedAt ?? 0} />,
    width: '7.5rem',
    sortable: true,
  },
]

const FILTERS = ['type', 'error', 'text'] as const
const WITHOUT_NAMESPACE = COLUMNS.filter(({ key }) => key !== 'namespace')

export function LettersPage({ overview }: { readonly overview: Overview | undefined }) {
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const fresh = useNewLetters(overview)
  const paged = usePaged<EventRow>(loadPage, (pages, isFirst) => {
    if (isFirst) fresh.isShown(pages.view().rows)
    // Another list: a letter that a filter hides is not touched.
    const keys = isFirst ? pages.view().rows.map(({ key }) => key) : undefined
    if (keys !== undefined) selected.value = new Set(keys.filter(key => selected.peek().has(key)))
  })
  const current = useSignal<string | undefined>(undefined)
  const { rows, offset, count, hasMore } = paged.list.value
  const move = (step: 1 | -1) => {
    current.value = neighbour(
      rows.map(({ key }) => key),
      current.value,
      step,
    )
  }
  const canChange = overview?.role === 'admin'
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current.value !== undefined && go(['letters', current.value]),
    r: () =>
      canChange && current.value !== undefined && void change(paged, selected, 'redrive', [current.value]),
  })
  if (overview === undefined) return <p class="quiet">Loading …</p>
  return (
    <>
      <div class="bar">
        <h1>Dead letters</h1>
        <NewLetters count={fresh.count.value} show={paged.reload} />
      </div>
      <Filters filters={FILTERS.filter(one => one !== 'text' || overview.browsing.filters.includes(one))} />
      {!isFiltered() && count > 0 && (
        <LetterGroups overview={overview} turn={paged.turn.value} onChanged={paged.reload} />
      )}
      {canChange && <Actions paged={paged} selected={selected} overview={overview} />}
      <Failure error={paged.error.value} retry={paged.reload} />
      {paged.ready.value && count === 0 ? (
        <Empty />
      ) : (
        <DataTable
          caption="Dead letters"
          columns={rows.some(({ namespace }) => namespace !== '') ? COLUMNS : WITHOUT_NAMESPACE}
          rows={rows}
          offset={offset}
          count={count}
          hasMore={hasMore}
          turn={paged.turn.value}
          rowKey={row => row.key}
          current={current.value}
          sort={{ key: 'failedAt', descending: orderHere() !== 'oldest' }}
          {...(!isFiltered() && {
            onSort: ({ descending }) => setQuery({ order: descending ? '' : 'oldest' }),
          })}
          {...(canChange && { selected: selected.value, onSelect: next => (selected.value = next) })}
          onView={paged.show}
        />
      )}
      <p class="small quiet">
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens{canChange && ', '}
        {canChange && <kbd>r</kbd>}
        {canChange && ' redrives'}
      </p>
    </>
  )
}

async function loadPage(after: string | undefined, signal: AbortSignal) {
  const query = { ...filtersHere(), order: orderHere(), after, limit: PAGE_ROWS }
  let page = await call<EventPage>('api/letters', { query, signal })
  // A request looks through so many letters: the next that match may be further on.
  while (page.events.length === 0 && page.next !== undefined)
    page = await call<EventPage>('api/letters', { query: { ...query, after: page.next }, signal })
  return { rows: page.events, next: page.next }
}

/** Oldest first goes without filters: indexes run from the newest. */
function orderHere(): string {
  return isFiltered() ? '' : (route.value.query.get('order') ?? '')
}

function isFiltered(): boolean {
  return Object.keys(filtersHere()).length > 0
}

function Empty() {
  const filtered = isFiltered()
  return (
    <div class="empty">
      <h2>{filtered ? 'No dead letter matches' : 'No dead letters'}</h2>
      <p class="quiet">
        {filtered
          ? 'Change or clear the filters above.'
          : 'An event whose attempts are used up appears here, with the error of the last one.'}
      </p>
    </div>
  )
}

function Actions({
  paged,
  selected,
  overview: { now, stats },
}: {
  readonly paged: Paged<EventRow>
  readonly selected: Signal<ReadonlySet<string>>
  readonly overview: Overview
}) {
  const keys = [...selected.value]
  const count = keys.length
  const some = (action: 'redrive' | 'discard') => void change(paged, selected, action, keys)
  const all = async (action: 'redrive' | 'discard') => {
    if (
      await changeMatching(action, filtersHere(), {
        failedBy: now,
        known: isFiltered() ? undefined : stats.dead,
      })
    ) {
      selected.value = new Set()
      paged.reload()
    }
  }
  return (
    <div class="bar">
      <button type="button" disabled={count === 0} onClick={() => some('redrive')}>
        Redrive {formatCount(count)} selected
      </button>
      <button type="button" class="danger" disabled={count === 0} onClick={() => some('discard')}>
        Discard {formatCount(count)} selected
      </button>
      <span class="push" />
      <button type="button" onClick={() => void all('redrive')}>
        Redrive all {isFiltered() && 'that match '}…
      </button>
      <button type="button" class="danger" onClick={() => void all('discard')}>
        Discard all {isFiltered() && 'that match '}…
      </button>
    </div>
  )
}

async function change(
  paged: Paged<EventRow>,
  selected: Signal<ReadonlySet<string>>,
  action: 'redrive' | 'discard',
  keys: readonly string[],
): Promise<void> {
  if (!(await changeLetters(action, keys))) return
  selected.value = new Set([...selected.value].filter(key => !keys.includes(key)))
  paged.reload()
}
