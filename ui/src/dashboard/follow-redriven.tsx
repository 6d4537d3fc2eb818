import { type ReadonlySignal, signal } from '@preact/signals'
import type {
  EventStates,
  StatesRequest,
  Whereabouts,
} from '../../../packages/dashboard/src/protocol/protocol.ts'
import { call } from '../kit/api.ts'
import { hrefOf } from '../kit/route.ts'
import { formatCount } from '../kit/text.ts'

const AT_ONCE = 200
const EVERY_MS = 1000
/** Events that are followed. More would be as many questions each second. */
const MAX_FOLLOWED = 5000
/** An event that fails may wait for hours before its next attempt. */
const LONGEST_MS = 600_000

/** What has become of a batch of redriven events. */
interface Outcome {
  readonly redriven: number
  readonly handled: number
  /** Failed again, by group. */
  readonly failed: ReadonlyMap<string, number>
  readonly waiting: number
  /** Discarded meanwhile, or unknown to the inbox. */
  readonly unclear: number
  /** Beyond {@link MAX_FOLLOWED}. */
  readonly unfollowed: number
  /** The group that was redriven, if it was one. */
  readonly group: string | undefined
  readonly isOver: boolean
  readonly error?: string
}

const outcome = signal<Outcome | undefined>(undefined)
const ended = signal(0)
/** Number of batches that have been followed to their end: what failed again is a dead letter by then. */
export const endedBatches: ReadonlySignal<number> = ended
let batch = 0

/** Follows redriven events to their end, and shows what became of them. A later batch takes its place. */
export async function followRedriven(keys: readonly string[], group: string | undefined): Promise<void> {
  const own = ++batch
  const states = new Map<string, Whereabouts>()
  const endsAt = Date.now() + LONGEST_MS
  let waiting = keys.slice(0, MAX_FOLLOWED)
  const show = (isOver: boolean, error?: string) => {
    if (own !== batch) return
    const counted = countOf(states, { waiting: waiting.length, redriven: keys.length, group, isOver })
    outcome.value = error === undefined ? counted : { ...counted, error }
  }
  show(false)
  while (waiting.length > 0 && own === batch && Date.now() < endsAt) {
    await new Promise(resolve => setTimeout(resolve, EVERY_MS))
    try {
      for (let at = 0; at < waiting.length && own === batch; at += AT_ONCE) {
        const { states: found } = await call<EventStates>('api/events/states', {
          method: 'POST',
          body: { keys: waiting.slice(at, at + AT_ONCE) } satisfies StatesRequest,
        })
        for (const [key, one] of Object.entries(found)) states.set(key, one)
      }
      waiting = waiting.filter(key => isWaiting(states.get(key)))
      show(waiting.length === 0)
    } catch (cause) {
      show(false, cause instanceof Error ? cause.message : String(cause))
    }
  }
  show(true)
  ended.value++
}

function isWaiting(one: Whereabouts | undefined): boolean {
  return one === undefined || one.state === 'pending' || one.state === 'active'
}

function countOf(
  states: ReadonlyMap<string, Whereabouts>,
  rest: Pick<Outcome, 'waiting' | 'redriven' | 'group' | 'isOver'>,
): Outcome {
  let [handled, unclear] = [0, 0]
  const failed = new Map<string, number>()
  for (const one of states.values()) {
    if (one.state === 'handled' || one.state === 'gone') handled++
    else if (one.state === 'dead') failed.set(one.group ?? '', (failed.get(one.group ?? '') ?? 0) + 1)
    else if (!isWaiting(one)) unclear++
  }
  return { ...rest, handled, failed, unclear, unfollowed: Math.max(0, rest.redriven - MAX_FOLLOWED) }
}

/** Shows the last batch, until it is dismissed. */
export function BatchOutcome() {
  const shown = outcome.value
  if (shown === undefined) return null
  const { redriven, handled, waiting, unclear, unfollowed, failed, group, isOver, error } = shown
  const again = [...failed.values()].reduce((sum, count) => sum + count, 0)
  const parts = [
    `${formatCount(handled)} handled`,
    ...(again > 0 ? [`${formatCount(again)} failed again${sameOrOther(failed, again, group)}`] : []),
    ...(waiting > 0 ? [`${formatCount(waiting)} still waiting`] : []),
    ...(unclear > 0 ? [`${formatCount(unclear)} discarded, or in an unknown state`] : []),
    ...(unfollowed > 0 ? [`${formatCount(unfollowed)} not followed`] : []),
  ]
  const tone = again > 0 ? 'bad' : waiting > 0 ? 'wait' : ''
  const [only] = failed.size === 1 ? failed.keys() : []
  return (
    <div class={`note bar ${tone}`} role="status">
      <span>
        {formatCount(redriven)} redriven: {parts.join(', ')}
        {isOver ? '.' : ' …'}
        {error !== undefined && ` ${error}`}
      </span>
      {only !== undefined && only !== '' && (
        <a href={hrefOf(['letters'], { group: only })}>Show those that failed</a>
      )}
      <button type="button" class="plain push" onClick={() => dismiss()}>
        Dismiss
      </button>
    </div>
  )
}

function dismiss(): void {
  batch++
  outcome.value = undefined
}

function sameOrOther(failed: Outcome['failed'], all: number, group: string | undefined): string {
  if (group === undefined) return failed.size === 1 ? ', all with one error' : ''
  const same = failed.get(group) ?? 0
  if (same === all) return ': same error'
  return same === 0 ? ': another error' : `: ${formatCount(same)} with the same error`
}
