import { useSignal } from '@preact/signals'
import type { FailureGroup } from '../../../packages/emulator/src/api/emulator-api.ts'
import { ErrorCard } from '../kit/error-card.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { visible } from '../kit/text.ts'
import { api } from './api.ts'
import { emulatorNow } from './emulator-clock.ts'
import { isTextTooShort, selectionHere } from './filters.tsx'
import { useNotices } from './live.ts'

const EVERY_MS = 5000
/** Cards shown at first, so that the list is not far below. */
const FEW = 4

interface FailureGroupsProps {
  /** Replays or discards exactly the deliveries of a group. */
  readonly change: (action: 'replay' | 'discard', group: FailureGroup) => void
}

/** Undelivered events by what their last attempts have in common. */
export function FailureGroups({ change }: FailureGroupsProps) {
  const showsAll = useSignal(false)
  const found = useResource(async (signal): Promise<{ readonly groups: readonly FailureGroup[] }> => {
    const selection = selectionHere()
    if (isTextTooShort(selection)) return { groups: [] }
    const { state: _, ...query } = selection.filter
    return api('undelivered/groups', { query, signal })
  }, EVERY_MS)
  useNotices(({ event }) => {
    if (event === 'batch' || event === 'reset' || event === 'gap') found.reload()
  })
  const groups = found.error.value === undefined ? (found.data.value?.groups ?? []) : []
  if (groups.length === 0) return null
  const isAll = showsAll.value || groups.length <= FEW + 1
  return (
    <section class="stack tight" aria-labelledby="what-failed">
      <h2 id="what-failed" class="visually-hidden">
        What failed
      </h2>
      <ul class="cards">
        {groups.slice(0, isAll ? groups.length : FEW).map(group => (
          <li key={`${group.type} ${group.reply}`}>
            <Card group={group} change={change} />
          </li>
        ))}
      </ul>
      {!isAll && (
        <div>
          <button type="button" onClick={() => (showsAll.value = true)}>
            Show all {groups.length} groups
          </button>
        </div>
      )}
    </section>
  )
}

function Card({ group, change }: FailureGroupsProps & { readonly group: FailureGroup }) {
  const { type, reply, count, firstAt, lastAt, sample, spark } = group
  const title = visible(reply) || 'no attempt'
  return (
    <ErrorCard
      title={title}
      href={hrefOf(['undelivered'], { state: 'undelivered', type, reply })}
      count={count}
      firstAt={Date.parse(firstAt)}
      lastAt={Date.parse(lastAt)}
      from={emulatorNow}
      spark={spark}
      actions={
        <>
          <button type="button" onClick={() => change('replay', group)}>
            Replay these …
          </button>
          <button type="button" class="danger" onClick={() => change('discard', group)}>
            Discard these …
          </button>
        </>
      }
    >
      {visible(type)}, such as{' '}
      <a class="mono" href={hrefOf(['deliveries', sample.id])}>
        {visible(sample.event)}
      </a>
    </ErrorCard>
  )
}
