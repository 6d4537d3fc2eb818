import { platform } from '#platform'
import type { AcceptResult } from '../accept-result.ts'
import { isTimedOut, maxOverrunMs } from '../attempt.ts'
import { type Entry, runGuarded, stopRetryTimer } from './entry.ts'
import type { Scheduler, SchedulerParts } from './scheduler.ts'

/** Tolerance for the timers of a live request. */
const GRACE_MS = 1000
/** Delay of a retry that finds no room. */
const NO_ROOM_MS = 100
/** Delay after which the sender may repeat an event whose `serializeBy` key is taken. */
const KEY_TAKEN_MS = 1000

/** Reason for refusing pauses and shared slots. */
export const CANNOT_QUEUE: string | undefined =
  "on this runtime the inbox in memory cannot queue: an event runs within its own request, or stays with its sender. Use cloudflareQueueInbox, whose queue's delivery can be paused, and a receiver and queue for each group"

export function createScheduler(parts: SchedulerParts): Scheduler {
  return new PerRequestScheduler(parts)
}

/**
 * Scheduler for Workers, where promises, timers and connections end with the request that made them. An attempt started
 * by another request would silently end with it. So nothing is queued: each request runs its own event, an event
 * without room stays with its sender, and an attempt past its time limit counts as over.
 */
export class PerRequestScheduler implements Scheduler {
  readonly #parts: SchedulerParts
  /** Age in milliseconds beyond which an attempt counts as over, even without a result. */
  readonly #limitMs: number
  /** Further age for an attempt that has timed out, while its handlers still run. */
  readonly #maxOverrunMs: number
  /**
   * Monotonic time in milliseconds at which each entry last showed a sign of life; in the future while it waits for a
   * retry.
   */
  readonly #lastSeenAt = new Map<Entry, number>()
  /** Entries that occupy one of the `concurrency` slots. */
  readonly #running = new Set<Entry>()
  /** Entry of each ordering key that runs or waits for a retry. */
  readonly #keyHolders = new Map<string, Entry>()
  #nextSweepAt = 0

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#limitMs = parts.policy.handlerTimeoutMs + GRACE_MS
    this.#maxOverrunMs = maxOverrunMs(parts.policy.handlerTimeoutMs)
  }

  get active(): number {
    return this.#running.size
  }

  overdue(): readonly Entry[] {
    const now = performance.now()
    if (now < this.#nextSweepAt) return []
    this.#nextSweepAt = now + GRACE_MS
    const overdue: Entry[] = []
    for (const [entry, lastSeenAt] of this.#lastSeenAt) {
      if (now - lastSeenAt > this.#limitMs) this.#running.delete(entry)
      // Twice, because `onError` and `onDeadLetter` may take as long as the handlers.
      const isHeld = entry.attempt !== undefined && isTimedOut(entry.attempt)
      const mostMs = 2 * this.#limitMs + (isHeld ? this.#maxOverrunMs : 0)
      if (now - lastSeenAt > mostMs) overdue.push(entry)
    }
    return overdue
  }

  reserve(entry: Entry): AcceptResult | undefined {
    const key = entry.delivery.order?.key
    if (key !== undefined && this.#keyHolders.has(key))
      return { outcome: 'in_flight', retryAfterMs: KEY_TAKEN_MS }
    if (!this.#hasRoom()) return { outcome: 'full', detail: 'the concurrency limit is reached' }
    if (key !== undefined) this.#keyHolders.set(key, entry)
    this.#takePlace(entry)
    return undefined
  }

  enqueue(entry: Entry): void {
    stopRetryTimer(entry)
    if (!this.#running.has(entry) && !this.#hasRoom()) {
      this.enqueueAfter(entry, NO_ROOM_MS)
      return
    }
    this.#takePlace(entry)
    platform.afterReplies(() => this.#start(entry))
  }

  enqueueAfter(entry: Entry, delayMs: number): void {
    this.#lastSeenAt.set(entry, performance.now() + delayMs)
    entry.retryTimer = setTimeout(() => this.enqueue(entry), delayMs)
  }

  remove(entry: Entry): void {
    stopRetryTimer(entry)
    const key = entry.delivery.order?.key
    if (key !== undefined && this.#keyHolders.get(key) === entry) this.#keyHolders.delete(key)
    this.#running.delete(entry)
    this.#lastSeenAt.delete(entry)
  }

  #hasRoom(): boolean {
    return this.#running.size < this.#parts.policy.concurrency
  }

  #takePlace(entry: Entry): void {
    this.#running.add(entry)
    this.#lastSeenAt.set(entry, performance.now())
  }

  #start(entry: Entry): void {
    if (entry.phase !== 'held') return
    runGuarded(this.#parts.run, entry, result => {
      this.#running.delete(entry)
      this.#parts.apply(result, entry)
    })
  }
}
