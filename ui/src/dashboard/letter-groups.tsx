import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { GroupPage, LetterGroup, Overview } from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { Failure } from '../kit/failure.tsx'
import { useResource } from '../kit/resource.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount, inOneLine, visible } from '../kit/text.ts'
import { changeMatching, isChanging } from './change-letters.ts'

interface LetterGroupsProps {
  readonly overview: Overview
  /** Letters that failed later stay unchanged. */
  readonly failedBy: number
  /** A new number triggers a new count. */
  readonly turn: number
  readonly onChanged: () => void
}

/** Shows the dead letters by error class, each group with a button. */
export function LetterGroups({ overview, failedBy, turn, onChanged }: LetterGroupsProps) {
  const counted = useSignal(0)
  const groups = useResource(signal => countGroups(signal, count => (counted.value = count)))
  useEffect(() => {
    if (turn > 1) groups.reload()
  }, [turn])
  // Counts them again: more may have failed since, and the question names their number.
  const redrive = async ({ error }: LetterGroup) => {
    const words = [['Error', error === '' ? 'without a class' : error]] as const
    if (await changeMatching('redrive', { filter: { error }, words }, { failedBy })) onChanged()
  }
  const known = groups.data.value
  if (known?.length === 0 && groups.error.value === undefined) return null
  return (
    <section class="panel" aria-labelledby="groups">
      <h2 id="groups">By error</h2>
      <Failure error={groups.error.value} retry={groups.reload} isStale={known !== undefined} />
      {known === undefined && groups.error.value === undefined && (
        <p class="quiet">Counting … {formatCount(counted.value)}</p>
      )}
      <ul class="timeline">
        {known?.map(group => (
          <li key={group.error} class="bad">
            <div class="bar">
              <span>
                <Reason group={group} /> × <b>{formatCount(group.count)}</b>
              </span>
              {overview.role === 'admin' && (
                <button
                  type="button"
                  class="push"
                  disabled={isChanging()}
                  onClick={() => void redrive(group)}
                >
                  Redrive {formatCount(group.count)} …
                </button>
              )}
            </div>
            <div class="small quiet">{group.types.map(type => visible(type)).join(', ')}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Shows a group's error, with a link to its letters if the error has a class. */
function Reason({ group: { error, reason } }: { readonly group: LetterGroup }) {
  const text = <span class="mono">{reason === '' ? 'no error text' : inOneLine(reason)}</span>
  return error === '' ? text : <a href={hrefOf(['letters'], { error })}>{text}</a>
}

/** Adds up all pages, the largest group first. */
async function countGroups(
  signal: AbortSignal,
  counting: (count: number) => void,
): Promise<readonly LetterGroup[]> {
  const sums = new Map<string, LetterGroup>()
  let counted = 0
  let after: string | undefined
  do {
    const page: GroupPage = await call('api/letters/groups', { query: { after }, signal })
    for (const group of page.groups) {
      const known = sums.get(group.error)
      counted += group.count
      const types = [...new Set([...(known?.types ?? []), ...group.types])]
      sums.set(group.error, { ...(known ?? group), count: (known?.count ?? 0) + group.count, types })
    }
    counting(counted)
    after = page.next
  } while (after !== undefined)
  return [...sums.values()].sort((a, b) => b.count - a.count)
}
