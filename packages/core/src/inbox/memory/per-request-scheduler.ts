import { platform } from '#platform'
import { isPromise } from '../../lib/maybe-promise.ts'
import type { Acceptance } from '../acceptance.ts'
import type { Verdict } from '../inbox.ts'
import type { Entry } from './entry.ts'
import type { Pump, PumpParts } from './scheduler.ts'

/** How much later than its timer a request that is still there is heard of. */
const GRACE_MS = 1000
const NO_PLACE_MS = 100
/** When the sender of an event whose `serializeBy` key is taken may try again. */
const LANE_MS = 1000

/**
 * Starts an attempt in its own request only. On Workers promises, timers and connections belong to the request that
 * made them: what was started for one in the turn of another would end with that other, without a word. So nothing
 * is queued, what finds no place stays with its sender, and what must have ended by the clock is over, though nothing
 * has said so.
 */
export function createPerRequestScheduler({ policy, run, apply }: PumpParts): Pump {
  const { concurrency, serialize, handlerTimeoutMs } = policy
  const limitMs = handlerTimeoutMs + GRACE_MS
  /** Monotonic milliseconds when an entry was last heard of: in the future while it waits for a retry. */
  const heardAt = new Map<Entry, number>()
  const slots = new Set<Entry>()
  const lanes = new Map<string, Entry>()
  let sweepAt = 0

  function reserve(entry: Entry): Acceptance | undefined {
    const lane = serialize ? entry.delivery.order?.key : undefined
    if (lane !== undefined && lanes.has(lane)) return { outcome: 'in_flight', retryAfterMs: LANE_MS }
    if (slots.size >= concurrency) return { outcome: 'full' }
    if (lane !== undefined) lanes.set(lane, entry)
    take(entry)
    return undefined
  }

  function take(entry: Entry): void {
    slots.add(entry)
    heardAt.set(entry, performance.now())
  }

  function overdue(): readonly Entry[] {
    const now = performance.now()
    if (now < sweepAt) return []
    sweepAt = now + GRACE_MS
    const gone: Entry[] = []
    for (const [entry, at] of heardAt) {
      if (now - at > limitMs) slots.delete(entry)
      // Listeners may take as long again to be told of a failure.
      if (now - at > 2 * limitMs) gone.push(entry)
    }
    return gone
  }

  function push(entry: Entry): void {
    entry.retryTimer = undefined
    if (slots.has(entry) || slots.size < concurrency) {
      take(entry)
      platform.afterReplies(() => start(entry))
    } else {
      later(entry, NO_PLACE_MS)
    }
  }

  function later(entry: Entry, delayMs: number): void {
    heardAt.set(entry, performance.now() + delayMs)
    entry.retryTimer = setTimeout(push, delayMs, entry)
  }

  function start(entry: Entry): void {
    if (entry.phase !== 'held') return
    const verdict = run(entry)
    if (isPromise(verdict)) void verdict.then(known => end(known, entry))
    else end(verdict, entry)
  }

  function end(verdict: Verdict, entry: Entry): void {
    slots.delete(entry)
    apply(verdict, entry)
  }

  return {
    get active() {
      return slots.size
    },
    overdue,
    reserve,
    push,
    later,
    settle(entry) {
      const lane = entry.delivery.order?.key
      if (lane !== undefined && lanes.get(lane) === entry) lanes.delete(lane)
      slots.delete(entry)
      heardAt.delete(entry)
    },
  }
}
