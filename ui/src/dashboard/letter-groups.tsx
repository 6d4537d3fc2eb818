import { useEffect, useRef } from 'preact/hooks'
import type {
  GroupList,
  LetterGroup,
  LetterTimes,
  Overview,
  VerbView,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { ErrorCard } from '../kit/error-card.tsx'
import { Failure } from '../kit/failure.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount, inOneLine, visible } from '../kit/text.ts'
import { changeMatching, isChanging } from './change-letters.ts'
import { letterVerbs } from './verbs.ts'

interface LetterGroupsProps {
  readonly overview: Overview
  /** Letters that failed later stay unchanged. */
  readonly failedBy: number
  /** A new number triggers a new count. */
  readonly turn: number
  readonly onChanged: () => void
}

/** Shows a card for each kind of error, with buttons for exactly its letters. */
export function LetterGroups({ overview, failedBy, turn, onChanged }: LetterGroupsProps) {
  const list = useResource(signal => call<GroupList>('api/letters/groups', { signal }))
  useEffect(() => {
    if (turn > 1) list.reload()
  }, [turn])
  // Counts them again: more may have failed since, and the question names their number.
  const change = async (verb: VerbView, { group, reason, type }: LetterGroup) => {
    const words = [
      ['Error', inOneLine(reason)],
      ['Type', type],
    ] as const
    if (await changeMatching(verb, { filter: { group }, words }, { failedBy })) onChanged()
  }
  const known = list.data.value
  if (known?.counted === 0 && list.error.value === undefined) return null
  return (
    <section class="stack tight" aria-labelledby="groups">
      <h2 id="groups">By error</h2>
      <Failure error={list.error.value} retry={list.reload} isStale={known !== undefined} />
      {known === undefined && list.error.value === undefined && <p class="quiet">Counting …</p>}
      {known !== undefined && (
        <Cards
          list={known}
          turn={turn}
          change={overview.role === 'admin' ? (verb, group) => void change(verb, group) : undefined}
        />
      )}
      {known !== undefined && <Rest list={known} />}
    </section>
  )
}

interface CardsProps {
  readonly list: GroupList
  readonly turn: number
  /** Undefined if the user may not change letters. */
  readonly change: ((verb: VerbView, group: LetterGroup) => void) | undefined
}

/** The cards, to which their letters' times are added once these have loaded. */
function Cards({ list, turn, change }: CardsProps) {
  const times = useResource(signal => call<LetterTimes>('api/letters/times', { signal }))
  const first = useRef(turn)
  useEffect(() => {
    if (turn > first.current) times.reload()
  }, [turn])
  return (
    <ul class="cards">
      {list.groups.map(group => (
        <li key={group.group}>
          <Card group={group} times={times.data.value} change={change && (verb => change(verb, group))} />
        </li>
      ))}
    </ul>
  )
}

interface CardProps {
  readonly group: LetterGroup
  readonly times: LetterTimes | undefined
  readonly change: ((verb: VerbView) => void) | undefined
}

function Card({ group: shown, times, change }: CardProps) {
  const { group, type, count, firstFailedAt, lastFailedAt, key, id, reason, stack } = shown
  const spark = times?.groups[group]
  const read = spark?.reduce((sum, one) => sum + one, 0) ?? 0
  const isCut = times?.isPartial === true && read < count
  return (
    <ErrorCard
      title={reason === '' ? 'no error text' : inOneLine(reason)}
      href={hrefOf(['letters'], { group })}
      count={count}
      firstAt={firstFailedAt}
      lastAt={lastFailedAt}
      // A single letter has no course.
      spark={count > 1 ? spark : undefined}
      sparkNote={isCut ? `the last ${formatCount(read)} of ${formatCount(count)}` : undefined}
      stack={stack}
      actions={
        change !== undefined && (
          <>
            {letterVerbs().map(verb => (
              <button
                key={verb.name}
                type="button"
                class={verb.changes === 'for good' ? 'danger' : undefined}
                disabled={isChanging()}
                onClick={() => change(verb)}
              >
                {verb.words.label} {formatCount(count)} …
              </button>
            ))}
          </>
        )
      }
    >
      {visible(type)}.{' '}
      <a href={hrefOf(['letters', key])} title={visible(id)}>
        Open the last one
      </a>
    </ErrorCard>
  )
}

/** Names what the cards leave out. */
function Rest({ list: { groups, counted, isPartial } }: { readonly list: GroupList }) {
  const others = counted - groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {others > 0 && <p class="small quiet">{formatCount(others)} letters have other errors.</p>}
      {isPartial && (
        <p class="small quiet">
          Only the {formatCount(counted)} newest letters are counted: this inbox has no index for errors.
        </p>
      )}
    </>
  )
}
