import { useEffect } from 'preact/hooks'
import type { BulkResult, FailureGroup } from '../../../packages/emulator/src/api/emulator-api.ts'
import { askFor, confirm } from '../kit/confirm.tsx'
import { Folded } from '../kit/folded.tsx'
import { route, setQuery } from '../kit/route.ts'
import type { Selection, Word } from '../kit/selection.ts'
import { isUnderWay, runTask } from '../kit/tasks.tsx'
import { api } from './api.ts'
import { countOf, startBatch } from './batches.tsx'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { FailureGroups } from './failure-groups.tsx'
import { clearing, Filters, filtersLabel, LABELS } from './filters.tsx'
import { ELSEWHERE, TO } from './replay.ts'

/** Lists undelivered events, and replays or discards them together. */
export function UndeliveredPage() {
  const isSet = route.value.query.get('state') === 'undelivered'
  useEffect(() => {
    if (!isSet) setQuery({ state: 'undelivered' }, true)
  }, [isSet])
  return isSet ? <Undelivered /> : null
}

function Undelivered() {
  const list = useHeldList()
  const { live } = list
  const of = live.of.value
  // Rows of an earlier filter may still be shown while those of a new one load.
  const isReady = live.isCurrent() && live.list.value.count > 0 && !isUnderWay(COUNTING)
  const all = async (action: 'replay' | 'discard') => {
    if (of !== undefined && (await changeAll(action, of))) live.reload()
  }
  const group = async (action: 'replay' | 'discard', { type, reply }: FailureGroup) => {
    const words = [[LABELS.type, type] as const, [LABELS.reply, reply] as const]
    const filter = { ...(of?.filter ?? {}), state: 'undelivered', type, reply }
    if (await changeAll(action, { filter, words })) live.reload()
  }
  return (
    <>
      <div class="bar">
        <h1>Undelivered</h1>
        <div class="bar push">
          <Fresh live={live} />
          <button type="button" class="primary" disabled={!isReady} onClick={() => void all('replay')}>
            Replay all that match …
          </button>
          <button type="button" class="danger" disabled={!isReady} onClick={() => void all('discard')}>
            Discard all that match …
          </button>
        </div>
      </div>
      <Folded label={filtersLabel(false)}>
        <Filters withState={false} />
      </Folded>
      <Folded label="What failed">
        <FailureGroups change={(action, one) => void group(action, one)} />
      </Folded>
      <DeliveryList caption="Undelivered" list={list} clear={clearing(false)}>
        <h2>No undelivered events</h2>
        <p class="quiet">
          An event stays here once its attempts are used up, until you replay or discard it.
        </p>
      </DeliveryList>
    </>
  )
}

const COUNTING = 'Counting'
const VERB = { replay: 'Replay', discard: 'Discard' } as const

/**
 * Counts what is selected, asks for confirmation, and changes what was counted. The emulator's process does that, so that
 * it goes on when this page is closed.
 */
async function changeAll(
  action: 'replay' | 'discard',
  { filter, words }: Pick<Selection, 'filter' | 'words'>,
): Promise<boolean> {
  const counted = await runTask(
    COUNTING,
    () => api<BulkResult>(`deliveries/${action}`, { method: 'POST', body: { filter, dryRun: true } }),
    ({ matched }) => (matched === 0 ? 'No events match anymore.' : ''),
  )
  if (counted === undefined || counted.next === null) return false
  const { matched, next: after } = counted
  const to = await sure(action, matched, words)
  if (to === undefined) return false
  return startBatch({ action, filter, after, ...(action === 'replay' && to !== '' && { to }) })
}

/** Asks, and resolves with the address that a replay goes to: empty for the endpoint's, undefined for no. */
async function sure(
  action: 'replay' | 'discard',
  count: number,
  words: readonly Word[],
): Promise<string | undefined> {
  const what = `${VERB[action]} ${countOf(count)}`
  // The state is the page's own and no filter.
  const scope = {
    words: words.filter(([label]) => label !== LABELS.state),
    whole: 'No filter is set: these are all undelivered events.',
  }
  if (action === 'discard') {
    const text = 'They are not sent again, and stay in the log.'
    return (await confirm(`${what}?`, text, what, true, scope)) ? '' : undefined
  }
  const text = `They are sent again, oldest first. ${ELSEWHERE}`
  return askFor(TO, { title: `${what}?`, text, action: what, scope })
}
