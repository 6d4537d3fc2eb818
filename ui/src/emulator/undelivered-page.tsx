import { useEffect } from 'preact/hooks'
import type { BulkResult } from '../../../packages/emulator/src/api/emulator-api.ts'
import { confirm } from '../kit/confirm.tsx'
import { formatCount } from '../kit/format-count.ts'
import { route, setQuery } from '../kit/route.ts'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { api } from './api.ts'
import { commandOf } from './command-of.ts'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { clearing, Filters, filterHere } from './filters.tsx'

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
  const isEmpty = live.list.value.count === 0
  const isBusy = isUnderWay(TITLE.replay) || isUnderWay(TITLE.discard)
  const all = async (action: 'replay' | 'discard') => {
    if (await changeAll(action)) live.reload()
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
            disabled={isEmpty || isBusy}
            onClick={() => void all('replay')}
          >
            Replay all that match …
          </button>
          <button
            type="button"
            class="danger"
            disabled={isEmpty || isBusy}
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

/** Counts matches, asks for confirmation, and works until all are done or the user stops it. */
async function changeAll(action: 'replay' | 'discard'): Promise<boolean> {
  const filter = filterHere()
  const post = (body: object) =>
    api<BulkResult>(`deliveries/${action}`, { method: 'POST', body: { filter, ...body } })
  const matched = await runTask(
    'Counting',
    async () => (await post({ dryRun: true })).matched,
    count => (count === 0 ? 'No events match anymore.' : ''),
  )
  if (matched === undefined || matched === 0) return false
  const question = `${VERB[action]} ${countOf(matched)}?`
  const text =
    action === 'replay'
      ? 'They are sent again, oldest first.'
      : 'They are not sent again, and stay in the log.'
  if (!(await confirm(question, text, `${VERB[action]} ${countOf(matched)}`, action === 'discard')))
    return false
  const work = async ({ signal, progress }: TaskControl) => {
    let done = 0
    let after: string | null = null
    do {
      progress(done, matched)
      const result: BulkResult = await post({ limit: PER_CALL, ...(after !== null && { after }) })
      done += result.done
      after = result.next
    } while (after !== null && !signal.aborted)
    return done
  }
  const said = (done: number) => `${countOf(done)} ${DONE[action]}.`
  return (await runTask(TITLE[action], work, said, commandOf([action], filter))) !== undefined
}

/** Deliveries per call, few enough for visible progress and a quick stop. */
const PER_CALL = 250

function countOf(count: number): string {
  return count === 1 ? '1 event' : `${formatCount(count)} events`
}
