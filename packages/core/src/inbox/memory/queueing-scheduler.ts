import { platform } from '#platform'
import type { Entry } from './entry.ts'
import { createReadyQueue, type ReadyQueue } from './ready-queue.ts'
import { runGuarded, type Scheduler, type SchedulerParts } from './scheduler.ts'

/** After so long, handlers that never wait give I/O its turn. */
const TURN_MS = 5

export function createScheduler(parts: SchedulerParts): Scheduler {
  return new QueueingScheduler(parts)
}

/** For platforms where requests share turns: queues entries, and starts the next one when an attempt ends. */
export class QueueingScheduler implements Scheduler {
  readonly #parts: SchedulerParts
  readonly #queue: ReadyQueue
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
    this.#queue = createReadyQueue(parts.policy)
  }

  get active(): number {
    return this.#active
  }

  enqueue(entry: Entry): void {
    if (entry.retryTimer !== undefined) clearTimeout(entry.retryTimer)
    entry.retryTimer = undefined
    this.#scheduleRun()
    this.#queue.push(entry)
  }

  enqueueAfter(entry: Entry, delayMs: number): void {
    entry.retryTimer = setTimeout(() => this.enqueue(entry), delayMs)
  }

  remove(entry: Entry): void {
    if (entry.retryTimer !== undefined) clearTimeout(entry.retryTimer)
    if (this.#queue.remove?.(entry) === true) this.#scheduleRun()
  }

  /** After the replies of the current turn: an attempt must not delay an acknowledgement that is being written. */
  #scheduleRun(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    platform.afterReplies(this.#runTurn)
  }

  #startReady(): void {
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
    runGuarded(this.#parts, entry, (result, isAtOnce) => {
      this.#active--
      this.#parts.apply(result, entry)
      if (isAtOnce !== true) this.#startReady()
    })
  }
}
