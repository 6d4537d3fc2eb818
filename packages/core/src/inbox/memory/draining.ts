import { settlesWithin } from '../../lib/deadline.ts'
import { ABORT } from '../attempt.ts'
import type { DrainReport } from '../inbox.ts'
import { withdraw } from './completion.ts'
import type { State } from './state.ts'

const MOST_NAMED = 20
/** Time for the last try to remember a handled event, after the drain's deadline. */
const LAST_RECORDS_MS = 1200

/** Runs waiting events while time is left, then returns or dead-letters the rest. */
export async function drain(state: State, timeoutMs: number): Promise<DrainReport> {
  const { policy, entries, scheduler, leases, lost } = state
  state.isDraining = true
  state.recordRetries.drain(timeoutMs)
  // A failed event goes back to its sender with 'after-processing'; the sender then retries.
  if (policy.acknowledge === 'immediately') state.limit.lastStartAt = performance.now() + timeoutMs
  endPauses(state)
  for (const entry of entries.values()) if (entry.retryTimer !== undefined) scheduler.enqueue(entry)
  if (entries.size > 0) await settlesWithin(new Promise<void>(resolve => (state.onIdle = resolve)), timeoutMs)
  leases?.stop()
  // An event that is only being recorded as handled is neither lost nor released.
  const left = [...entries.values()].filter(entry => entry.phase !== 'completing')
  for (const { acknowledged, delivery } of left) if (acknowledged) lost.push(delivery.id)
  if (lost.length > 0)
    policy.logger.error(
      { code: 'events_lost', events: lost },
      `The drain ended before these events were handled: ${namesOf(lost)}.`,
    )
  state.stopWatchingExit()
  await Promise.all(left.map(entry => withdraw(state, entry, ABORT.drained())))
  if (entries.size > 0)
    await settlesWithin(new Promise<void>(resolve => (state.onIdle = resolve)), LAST_RECORDS_MS)
  return { lost: lost.length }
}

/** Runs what a pause has held back: it would be lost with the process. */
function endPauses({ pauses, entries, scheduler, policy }: State): void {
  if (!pauses.isAny) return
  const held = [...entries.values()].filter(
    ({ attempt, delivery }) => attempt === undefined && pauses.covers(delivery.type),
  ).length
  pauses.end(undefined)
  if (held > 0)
    policy.logger.warn(
      { code: 'pause_ended_by_drain', events: held },
      `Handling was paused, and the drain ends that: ${held} waiting events run now, because they would be lost with this process. A durable inbox keeps them, and the pause.`,
    )
  scheduler.resumed?.()
}

function namesOf(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED
  const named = ids.slice(0, MOST_NAMED).join(', ')
  return `${named}${more > 0 ? ` and ${more} more` : ''}`
}

/** Reports acknowledged events that are lost with the process because nothing called `close()`. */
export function reportLoss({ policy, entries }: State): void {
  const held = [...entries.values()].filter(
    ({ acknowledged, phase }) => acknowledged && phase !== 'completing',
  )
  if (held.length === 0) return
  const lost = held.map(({ delivery }) => delivery.id)
  policy.logger.error(
    { code: 'events_lost', events: lost.slice(0, MOST_NAMED) },
    `The process exits with ${lost.length} acknowledged events in memory: ${namesOf(lost)}. Call close() first, or use a durable inbox.`,
  )
}
