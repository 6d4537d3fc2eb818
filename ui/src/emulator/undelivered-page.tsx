import { useEffect } from 'preact/hooks'
import type { DeliveryView } from '../../../packages/emulator/src/api/delivery-view.ts'
import type { BulkResult } from '../../../packages/emulator/src/api/emulator-api.ts'
import { askFor, confirm } from '../kit/confirm.tsx'
import { route, setQuery } from '../kit/route.ts'
import type { Selection, Word } from '../kit/selection.ts'
import { isUnderWay, runTask, type TaskControl } from '../kit/tasks.tsx'
import { formatCount } from '../kit/text.ts'
import { toast } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { commandOf, flagsOf } from './command-of.ts'
import { replyOf } from './delivery-columns.tsx'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { clearing, Filters, LABELS } from './filters.tsx'
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
  const { matched, next, batch } = counted
  const to = await sure(action, matched, words)
  if (to === undefined) return false
  const body = action === 'replay' && to !== '' ? { to } : {}
  const work = async ({ signal, progress }: TaskControl) => {
    let done = 0
    let after: string | null = next
    do {
      progress(done, matched)
      const result: BulkResult = await post({ limit: PER_CALL, after, ...body })
      done += result.done
      after = result.next
    } while (after !== null && !signal.aborted)
    return done
  }
  const said = (done: number) => (action === 'replay' ? '' : `${countOf(done)} discarded.`)
  const done = await runTask(TITLE[action], work, said, commandOf([action], flagsOf(filter)))
  if (done !== undefined && batch !== null) {
    const replies = await runTask(
      'Waiting for replies',
      control => repliesTo(batch, done, control),
      () => '',
    )
    const isGood = replies?.every(one => one.state === 'acknowledged')
    const result = replies === undefined ? '' : `: ${summaryOf(replies)}`
    const command = commandOf(['replay'], { ...flagsOf(filter), ...body })
    toast(isGood ? 'good' : 'bad', `${countOf(done)} replayed${result}.`, command)
  }
  return done !== undefined
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

/** Deliveries that a page of replies has. */
const PER_PAGE = 200
const LOOK_MS = 300
const MAX_LOOK_MS = 60_000

/** Waits until each replay has had its first reply, and returns the deliveries. Gives up after a minute. */
async function repliesTo(
  batch: string,
  total: number,
  { signal, progress }: TaskControl,
): Promise<readonly DeliveryView[]> {
  const deadline = performance.now() + MAX_LOOK_MS
  const seen: DeliveryView[] = []
  let after: string | null = ''
  while (after !== null) {
    progress(seen.length, total)
    const query = { batch, order: 'oldest', limit: PER_PAGE, after }
    const page: { readonly deliveries: readonly DeliveryView[]; readonly next: string | null } = await api(
      'deliveries',
      { query },
    )
    const isWaiting = page.deliveries.some(one => one.state === 'pending' && one.attempts === 0)
    if (isWaiting && !signal.aborted && performance.now() < deadline) {
      await new Promise(resolve => setTimeout(resolve, LOOK_MS))
    } else {
      seen.push(...page.deliveries)
      after = page.next
    }
  }
  return seen
}

/** Returns how replays ended: `78 acknowledged, 2 failed again (500 handler_failed)`. */
function summaryOf(deliveries: readonly DeliveryView[]): string {
  const failed = deliveries.filter(one => one.state !== 'acknowledged' && one.attempts > 0)
  const waiting = deliveries.filter(one => one.state === 'pending' && one.attempts === 0).length
  const reasons = [...new Set(failed.map(replyOf))].slice(0, MAX_REASONS).join(', ')
  const counts = [
    `${formatCount(deliveries.filter(one => one.state === 'acknowledged').length)} acknowledged`,
    ...(failed.length > 0 ? [`${formatCount(failed.length)} failed again (${reasons})`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} still waiting`] : []),
  ]
  return counts.join(', ')
}

const MAX_REASONS = 3

/** Deliveries per call, few enough for visible progress and a quick stop. */
const PER_CALL = 250

function countOf(count: number): string {
  return count === 1 ? '1 event' : `${formatCount(count)} events`
}
