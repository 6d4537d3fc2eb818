import { platform } from '#platform'
import { type Entry, runGuarded, stopRetryTimer } from './entry.ts'
import { ReadyQueue } from './ready-queue.ts'
import type { Scheduler, SchedulerParts } from './scheduler.ts'

/** Handling can be paused, and slots shared: entries queue here. */
export const CANNOT_QUEUE: string | undefined = undefined

/** Time after which handlers that never wait yield to I/O. */
const TURN_MS = 5

export function createScheduler(parts: SchedulerParts): Scheduler {
  return new QueueingScheduler(parts)
}

/**
 * Scheduler for platforms where one request may run another's event: queues entries, and starts the next one when an
 * attempt ends.
 */
export class QueueingScheduler implements Scheduler {
  readonly #parts: SchedulerParts
  readonly #queue: ReadyQueue<Entry>
  #active = 0
  #isScheduled = false
  /** Monotonic milliseconds. */
  #turnEndsAt = 0
  readonly #runTurn = (): void => {
    this.#isScheduled = false
    this.#turnEndsAt = performance.now() + TURN_MS
    this.#startReady()
  }

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    const { concurrency, groups } = parts.policy
    this.#queue = new ReadyQueue({ concurrency, perGroup: groups?.limit, pauses: parts.pauses })
  }

  get active(): number {
    return this.#active
  }

  enqueue(entry: Entry): void {
    stopRetryTimer(entry)
    this.#scheduleRun()
    this.#queue.push(entry)
  }

  enqueueAfter(entry: Entry, delayMs: number): void {
    entry.retryTimer = setTimeout(() => this.enqueue(entry), delayMs)
  }

  remove(entry: Entry): void {
    stopRetryTimer(entry)
    if (this.#queue.remove(entry)) this.#scheduleRun()
  }

  resumed(): void {
    this.#queue.unpark()
    this.#scheduleRun()
  }

  /** Schedules a run after the current turn's replies: an attempt must not delay an acknowledgement. */
  #scheduleRun(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    platform.afterReplies(this.#runTurn)
  }

  #startReady(): void {
    if (this.#parts.pauses.coversAll) return
    while (this.#active < this.#parts.policy.concurrency) {
      if (performance.now() > this.#turnEndsAt) {
        this.#scheduleRun()
        return
      }
      const entry = this.#queue.shift()
      if (entry === undefined) return
      if (entry.phase === 'held') this.#start(entry)
    }
  }

  #start(entry: Entry): void {
    this.#active++
    const turn = this.#queue.began(entry)
    runGuarded(this.#parts.run, entry, result => {
      this.#active--
      if (turn !== undefined) this.#queue.ended(turn)
      this.#parts.apply(result, entry)
      this.#startReady()
    })
  }
}
