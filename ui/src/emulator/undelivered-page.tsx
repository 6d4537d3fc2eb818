import { useEffect } from 'preact/hooks'
import type { BulkResult } from '../../../packages/emulator/src/api/emulator-api.ts'
import { confirm } from '../kit/confirm.tsx'
import { formatCount } from '../kit/format-count.ts'
import { route, setQuery } from '../kit/route.ts'
import { attempt } from '../kit/toasts.tsx'
import { api } from './api.ts'
import { DeliveryList, Fresh, useHeldList } from './delivery-list.tsx'
import { Filters, filterHere } from './filters.tsx'

/** What the platform gave up on. It stays until someone replays or discards it. */
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
  const all = async (action: 'replay' | 'discard') => {
    if (await changeAll(action)) live.reload()
  }
  return (
    <>
      <div class="bar">
        <h1>Undelivered</h1>
        <div class="bar push">
          <Fresh live={live} />
          <button type="button" class="primary" disabled={isEmpty} onClick={() => void all('replay')}>
            Replay all that match …
          </button>
          <button type="button" class="danger" disabled={isEmpty} onClick={() => void all('discard')}>
            Discard all that match …
          </button>
        </div>
      </div>
      <Filters withState={false} />
      <DeliveryList
        caption="Undelivered"
        list={list}
        empty={
          <div class="empty">
            <h2>Nothing is undelivered</h2>
            <p class="quiet">
              An event whose attempts are used up stays here until it is replayed or discarded.
            </p>
          </div>
        }
      />
    </>
  )
}

const TITLE = { replay: 'Replay', discard: 'Discard' } as const
const DONE = { replay: 'replayed', discard: 'discarded' } as const

/** Counts, asks with that number, and goes on until all are done. */
async function changeAll(action: 'replay' | 'discard'): Promise<boolean> {
  const filter = filterHere()
  const post = (body: object) =>
    api<BulkResult>(`deliveries/${action}`, { method: 'POST', body: { filter, ...body } })
  let matched = 0
  const isCounted = await attempt(async () => {
    matched = (await post({ dryRun: true })).matched
    return `${countOf(matched)} match.`
  })
  if (!isCounted || matched === 0) return false
  const question = `${TITLE[action]} ${countOf(matched)}?`
  const text =
    action === 'replay'
      ? 'Each is sent again, oldest first.'
      : 'They are not sent again, and stay in the log.'
  if (!(await confirm(question, text, `${TITLE[action]} ${countOf(matched)}`, action === 'discard')))
    return false
  return attempt(async () => {
    let done = 0
    let after: string | null = null
    do {
      const result: BulkResult = await post(after === null ? {} : { after })
      done += result.done
      after = result.next
    } while (after !== null)
    return `${countOf(done)} ${DONE[action]}.`
  })
}

function countOf(count: number): string {
  return count === 1 ? '1 event' : `${formatCount(count)} events`
}
