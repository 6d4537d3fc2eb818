import { type Signal, useSignal } from '@preact/signals'
import { Fragment } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { EventRow, Overview, VerbView } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { type Column, DataTable, KeysHint } from '../kit/data-table.tsx'
import { Cut, Loading } from '../kit/elements.tsx'
import { Failure } from '../kit/failure.tsx'
import { Folded } from '../kit/folded.tsx'
import { neighbor, useKeys } from '../kit/keys.ts'
import { isNarrow } from '../kit/narrow.ts'
import { Nothing } from '../kit/nothing.tsx'
import { AgoCell, distance, now, zoneOf } from '../kit/now.tsx'
import { type Paged, usePaged } from '../kit/paged.ts'
import { fieldName } from '../kit/payload-field.tsx'
import { go, hrefOf, setQuery } from '../kit/route.ts'
import { formatCount, inOneLine, visible } from '../kit/text.ts'
import { useTitle } from '../kit/title.ts'
import { batchTurn } from './batches.tsx'
import { changeLetters, changeMatching, isChanging } from './change-letters.ts'
import {
  clearing,
  type EventSelection,
  Filters,
  filtersLabel,
  filtersTitle,
  selectionAt,
} from './filters.tsx'
import { LetterGroups } from './letter-groups.tsx'
import { loadEvents } from './load-events.ts'
import { NewLetters, useNewLetters } from './new-letters.tsx'
import { fieldColumns } from './payload-field.tsx'
import { inThirdPerson, keyOf, letterVerbs } from './verbs.ts'

/** What failed and why come before the ids. */
function columnsOf(hasNamespace: boolean, bodies: boolean): readonly Column<EventRow>[] {
  return [
    { key: 'type', label: 'Type', cell: row => <Cut text={visible(row.type)} />, width: '11.5rem' },
    { key: 'reason', label: 'Last error', cell: ({ reason = '' }) => <Cut text={inOneLine(reason)} /> },
    { key: 'attempts', label: 'Attempts', cell: row => row.attempts, numeric: true, width: '5.5rem' },
    ...fieldColumns(bodies),
    { key: 'id', label: 'Event', cell: row => <LetterLink row={row} />, width: '9.75rem' },
    ...(hasNamespace
      ? [{ key: 'namespace', label: 'Namespace', cell: namespaceOf, width: '8rem' } as const]
      : []),
    {
      key: 'failedAt',
      label: `Failed (${zoneOf()})`,
      cell: row => <AgoCell at={row.failedAt ?? 0} />,
      width: '13.75rem',
      sortable: true,
    },
  ]
}

function namespaceOf({ namespace }: EventRow) {
  return <Cut text={visible(namespace)} />
}

function LetterLink({ row: { key, id } }: { readonly row: EventRow }) {
  return (
    <a href={hrefOf(['letters', key])} class="mono" title={visible(id)}>
      {visible(id)}
    </a>
  )
}

/** A letter in two lines, for a phone. */
function CompactLetter(row: EventRow) {
  const { type, reason = '', failedAt = 0 } = row
  return (
    <div class="two-lines">
      <b>{visible(type)}</b>
      <span class="small quiet">{distance(failedAt - now.value)}</span>
      <span>{inOneLine(reason)}</span>
      <LetterLink row={row} />
    </div>
  )
}

const FILTERS = ['type', 'reason', 'text', 'age'] as const

export function LettersPage({ overview }: { readonly overview: Overview | undefined }) {
  const selected = useSignal<ReadonlySet<string>>(new Set())
  const fresh = useNewLetters(overview)
  useTitle(filtersTitle())
  const paged = usePaged<EventRow, EventSelection>(
    () => selectionAt(overview?.now ?? 0),
    ({ filter, order }, after, signal) =>
      loadEvents('api/letters', { ...filter, order, after }, signal, row => row),
    (pages, isFirst) => {
      if (isFirst) fresh.isShown(pages.view().rows)
      // A new list drops selected letters that it does not contain, so that hidden ones stay unchanged.
      const keys = isFirst ? pages.view().rows.map(({ key }) => key) : undefined
      if (keys !== undefined) selected.value = new Set(keys.filter(key => selected.peek().has(key)))
    },
  )
  const ended = batchTurn.value
  const known = useRef(ended)
  useEffect(() => {
    if (known.current !== ended) paged.reload()
    known.current = ended
  }, [ended])
  if (overview === undefined) return <Loading />
  const canChange = overview.role === 'admin'
  return (
    <>
      <div class="bar">
        <h1>Dead letters</h1>
        <NewLetters count={fresh.count.value} show={paged.reload} />
      </div>
      <div class={isNarrow.value ? 'folds' : 'stack'}>
        <Folded label={filtersLabel()}>
          <Filters
            filters={FILTERS.filter(one => one !== 'text' || overview.browsing.filters.includes(one))}
            bodies={overview.bodies}
          />
        </Folded>
        {clearing() === undefined && paged.list.value.count > 0 && (
          <Folded label="By error">
            <LetterGroups
              overview={overview}
              failedBy={lastShown(paged.list.value.rows, overview.now)}
              turn={paged.turn.value}
              onChanged={paged.reload}
            />
          </Folded>
        )}
        {canChange && (
          <Folded label={selected.value.size === 0 ? 'Actions' : `Actions (${selected.value.size} selected)`}>
            <Actions paged={paged} selected={selected} overview={overview} />
          </Folded>
        )}
      </div>
      <LetterList paged={paged} selected={canChange ? selected : undefined} bodies={overview.bodies} />
    </>
  )
}

type Letters = Paged<EventRow, EventSelection>

interface LetterListProps {
  readonly paged: Letters
  /** Undefined if the user may not change letters. */
  readonly selected: Signal<ReadonlySet<string>> | undefined
  readonly bodies: boolean
}

/** Shows the table, with keyboard shortcuts. */
function LetterList({ paged, selected, bodies }: LetterListProps) {
  const current = useSignal<string | undefined>(undefined)
  const { rows, count, ...list } = paged.list.value
  const error = paged.error.value
  const clear = clearing()
  useLetterKeys(paged, selected, current)
  const hasNamespace = rows.some(({ namespace }) => namespace !== '')
  const columns = useMemo(() => columnsOf(hasNamespace, bodies), [hasNamespace, bodies, fieldName.value])
  return (
    <>
      <Failure error={error} retry={paged.reload} isStale={count > 0} />
      {count === 0 && (paged.ready.value || error !== undefined) ? (
        <Nothing what="dead letters" error={error} clear={clear}>
          <h2>No dead letters</h2>
          <p class="quiet">An event appears here once its attempts are used up, with its last error.</p>
        </Nothing>
      ) : (
        <DataTable
          caption="Dead letters"
          columns={columns}
          compact={CompactLetter}
          rows={rows}
          {...list}
          count={count}
          turn={paged.turn.value}
          place={paged.place}
          rowKey={row => row.key}
          current={current.value}
          sort={{ key: 'failedAt', descending: paged.of.value?.order !== 'oldest' }}
          {...(clear === undefined && {
            onSort: ({ descending }) => setQuery({ order: descending ? '' : 'oldest' }),
          })}
          {...(selected !== undefined && {
            selected: selected.value,
            onSelect: next => (selected.value = next),
          })}
          onView={paged.show}
        />
      )}
      <KeysHint>
        <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens
        {selected !== undefined &&
          mildVerbs().map(verb => (
            <Fragment key={verb.name}>
              , <kbd>{keyOf(verb)}</kbd> {inThirdPerson(verb)}
            </Fragment>
          ))}
      </KeysHint>
    </>
  )
}

function useLetterKeys(
  paged: Letters,
  selected: LetterListProps['selected'],
  current: Signal<string | undefined>,
): void {
  const move = (step: 1 | -1) => {
    const keys = paged.list.peek().rows.map(({ key }) => key)
    current.value = neighbor(keys, current.peek(), step)
  }
  const press = (verb: VerbView) => () => {
    const key = current.value
    if (key !== undefined && selected !== undefined && !isChanging())
      void change(paged, selected, verb, [key])
  }
  const own = selected === undefined ? [] : mildVerbs()
  useKeys(
    {
      j: () => move(1),
      k: () => move(-1),
      Enter: () => current.value !== undefined && go(['letters', current.value]),
      ...Object.fromEntries(own.map(verb => [keyOf(verb), press(verb)])),
    },
    {
      ...{ j: 'moves down', k: 'moves up', Enter: 'opens the letter' },
      ...Object.fromEntries(own.map(verb => [keyOf(verb), `${inThirdPerson(verb)} the letter`])),
    },
  )
}

/** What a key alone may do where it is easily pressed by mistake. */
function mildVerbs(): readonly VerbView[] {
  return letterVerbs().filter(({ changes }) => changes !== 'for good')
}

function Actions({
  paged,
  selected,
  overview: { now, stats },
}: {
  readonly paged: Letters
  readonly selected: Signal<ReadonlySet<string>>
  readonly overview: Overview
}) {
  const keys = [...selected.value]
  const of = paged.of.value
  const isFiltered = of !== undefined && of.words.length > 0
  // Rows of an earlier filter may still be shown while those of a new one load.
  const isReady = of !== undefined && paged.isCurrent() && !isChanging()
  const { rows, count } = paged.list.value
  const canSome = keys.length > 0 && isReady
  const canAll = count > 0 && isReady
  const some = (verb: VerbView) => void change(paged, selected, verb, keys)
  const all = async (verb: VerbView) => {
    if (of === undefined) return
    const failedBy = lastShown(rows, now)
    // The overview has counted the letters that failed by its time.
    const known = isFiltered || failedBy > now || count > stats.dead ? undefined : stats.dead
    if (!(await changeMatching(verb, of, { failedBy, known }))) return
    selected.value = new Set()
    paged.reload()
  }
  return (
    <div class="bar">
      {letterVerbs().map(verb => (
        <button
          key={verb.name}
          type="button"
          class={classOf(verb)}
          disabled={!canSome}
          onClick={() => some(verb)}
        >
          {verb.words.label} {formatCount(keys.length)} selected
        </button>
      ))}
      <span class="push" />
      {letterVerbs().map(verb => (
        <button
          key={verb.name}
          type="button"
          class={classOf(verb)}
          disabled={!canAll}
          onClick={() => void all(verb)}
        >
          {verb.words.label} all {isFiltered && 'that match '}…
        </button>
      ))}
    </div>
  )
}

function classOf({ changes }: VerbView): string | undefined {
  return changes === 'for good' ? 'danger' : undefined
}

/** Returns the latest failure shown, as the list may be newer than the overview. */
function lastShown(rows: readonly EventRow[], now: number): number {
  return rows.reduce((last, { failedAt = 0 }) => Math.max(last, failedAt), now)
}

async function change(
  paged: Letters,
  selected: Signal<ReadonlySet<string>>,
  verb: VerbView,
  keys: readonly string[],
): Promise<void> {
  if (!(await changeLetters(verb, keys))) return
  selected.value = new Set([...selected.value].filter(key => !keys.includes(key)))
  paged.reload()
}
