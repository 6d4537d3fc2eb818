import { useEffect } from 'preact/hooks'
import type { BulkResult } from '../../../packages/emulator/src/api/emulator-api.ts'
import { confirm } from '../kit/confirm.tsx'
import { route, setQuery } from '../kit/route.ts'
import type { Selection, Word } from '../kit/selection.ts'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { formatCount } from '../kit/text.ts'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { clearing, Filters, LABELS } from './filters.tsx'

/** Lists undelivered events, and replays or discards them together. */
export function UndeliveredPage() {
  const isSet = route.value.query.get('state') === 'undelivered'
  useEffect(() => {
    if (!isSet) setQuery({ state: 'undelivered' })
  }, [isSet])
  return isSet ? <Undelivered /> : null
}

function Undelivered() {
  const list = useHeldList()
  const { live } = list
  const of = live.of.value
  // Rows of an earlier filter may still be shown while those of a new one load.
  const isReady = live.isCurrent() && live.list.value.count > 0
  const isBusy = isUnderWay('Counting') || isUnderWay(TITLE.replay) || isUnderWay(TITLE.discard)
  const all = async (action: 'replay' | 'discard') => {
    if (of !== undefined && (await changeAll(action, of))) live.reload()
  }
  return (
    <>
      <div class="bar">
        <h1>Undelivered</h1>
        <div class="bar push">
          <Fresh live={live} />
          <button
            type="button"
            class="primary"
            disabled={!isReady || isBusy}
            onClick={() => void all('replay')}
          >
            Replay all that match …
          </button>
          <button
            type="button"
            class="danger"
            disabled={!isReady || isBusy}
            onClick={() => void all('discard')}
          >
            Discard all that match …
          </button>
        </div>
      </div>
      <Filters withState={false} />
      <DeliveryList caption="Undelivered" list={list} clear={clearing(false)}>
        <h2>No undelivered events</h2>
        <p class="quiet">
          An event stays here once its attempts are used up, until you replay or discard it.
        </p>
      </DeliveryList>
    </>
  )
}

const TITLE = { replay: 'Replaying', discard: 'Discarding' } as const
const VERB = { replay: 'Replay', discard: 'Discard' } as const
const DONE = { replay: 'replayed', discard: 'discarded' } as const

/** Counts what the list shows, asks for confirmation, and changes what was counted until the user stops it. */
async function changeAll(action: 'replay' | 'discard', { filter, words }: Selection): Promise<boolean> {
  const post = (body: object) =>
    api<BulkResult>(`deliveries/${action}`, { method: 'POST', body: { filter, ...body } })
  const counted = await runTask(
    'Counting',
    () => post({ dryRun: true }),
    ({ matched }) => (matched === 0 ? 'No events match anymore.' : ''),
  )
  if (counted === undefined || counted.next === null) return false
  const { matched, next } = counted
  if (!(await isSure(action, matched, words))) return false
  const work = async ({ signal, progress }: TaskControl) => {
    let done = 0
    let after: string | null = next
    do {
      progress(done, matched)
      const result: BulkResult = await post({ limit: PER_CALL, after })
      done += result.done
      after = result.next
    } while (after !== null && !signal.aborted)
    return done
  }
  const said = (done: number) => `${countOf(done)} ${DONE[action]}.`
  return (await runTask(TITLE[action], work, said, commandOf([action], filter))) !== undefined
}

function isSure(action: 'replay' | 'discard', count: number, words: readonly Word[]): Promise<boolean> {
  const text =
    action === 'replay'
      ? 'They are sent again, oldest first.'
      : 'They are not sent again, and stay in the log.'
  const what = `${VERB[action]} ${countOf(count)}`
  // The state is the page's own and no filter.
  const scope = {
    words: words.filter(([label]) => label !== LABELS.state),
    whole: 'No filter is set: these are all undelivered events.',
  }
  return confirm(`${what}?`, text, what, action === 'discard', scope)
}

/** Deliveries per call, few enough for visible progress and a quick stop. */
const PER_CALL = 250

function countOf(count: number): string {
  return count === 1 ? '1 event' : `${formatCount(count)} events`
}
