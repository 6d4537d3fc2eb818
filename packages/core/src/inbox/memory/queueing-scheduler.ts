import { platform } from '#platform'
import { type Entry, runGuarded, stopRetryTimer } from './entry.ts'
import type { Scheduler, SchedulerParts } from './scheduler.ts'

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
  readonly #queue = new ReadyQueue<Entry>()
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

  /** Schedules a run after the current turn's replies: an attempt must not delay an acknowledgement. */
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
      if (entry.phase === 'held') void this.#start(entry)
    }
  }

  async #start(entry: Entry): Promise<void> {
    this.#active++
    const result = await runGuarded(() => this.#parts.run(entry))
    this.#active--
    this.#parts.apply(result, entry)
    this.#startReady()
  }
}

/** Entries of one ordering key. */
class KeyQueue<E> {
  /** Oldest `created_at` first; equal times in order of arrival. */
  readonly waiting: E[] = []
  /** Entry that holds the key, from the start of its first attempt until it is finished. */
  holder: E | undefined = undefined
}

/**
 * Queue of entries for their next attempt: first in, first out. Entries of one ordering key run one at a time, oldest
 * first. An entry that waits for a retry keeps its key, so that no later one overtakes it.
 */
export class ReadyQueue<E extends Pick<Entry, 'delivery'>> {
  /** Entries without an ordering key, and keys whose oldest entry may run. */
  readonly #ready = new Fifo<E | KeyQueue<E>>()
  readonly #byKey = new Map<string, KeyQueue<E>>()

  /** Adds an entry for its first attempt, and again when a retry is due. */
  push(entry: E): void {
    const key = entry.delivery.order?.key
    if (key === undefined) {
      this.#ready.push(entry)
      return
    }
    const queue = this.#byKey.get(key) ?? new KeyQueue<E>()
    this.#byKey.set(key, queue)
    if (queue.holder === entry) {
      queue.holder = undefined
      // Goes to the front, whatever its age: entries of the same instant, and older ones that came late, arrived after
      // it.
      queue.waiting.unshift(entry)
      this.#ready.push(queue)
    } else {
      if (isIdle(queue)) this.#ready.push(queue)
      insertByAge(queue.waiting, entry)
    }
  }

  /** Returns the next entry that may run now, which then holds its key. */
  shift(): E | undefined {
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) {
      if (!(next instanceof KeyQueue)) return next
      next.holder = next.waiting.shift()
      if (next.holder !== undefined) return next.holder
    }
    return undefined
  }

  /** Removes a finished entry. Returns whether that lets another one run. */
  remove(entry: E): boolean {
    const key = entry.delivery.order?.key
    const queue = key === undefined ? undefined : this.#byKey.get(key)
    if (key === undefined || queue === undefined) return false
    const freesKey = queue.holder === entry
    const index = queue.waiting.indexOf(entry)
    if (freesKey) queue.holder = undefined
    else if (index !== -1) queue.waiting.splice(index, 1)
    if (isIdle(queue)) this.#byKey.delete(key)
    else if (freesKey) this.#ready.push(queue)
    return freesKey && queue.waiting.length > 0
  }
}

function isIdle({ holder, waiting }: KeyQueue<unknown>): boolean {
  return holder === undefined && waiting.length === 0
}

function insertByAge<E extends Pick<Entry, 'delivery'>>(waiting: E[], entry: E): void {
  const createdAt = entry.delivery.order?.createdAt ?? 0
  const before = waiting.findLastIndex(({ delivery }) => (delivery.order?.createdAt ?? 0) <= createdAt)
  waiting.splice(before + 1, 0, entry)
}

/** First-in, first-out queue with constant cost at any length. */
class Fifo<T> {
  #newest: T[] = []
  /** Oldest last. */
  #oldest: T[] = []

  push(value: T): void {
    this.#newest.push(value)
  }

  shift(): T | undefined {
    if (this.#oldest.length === 0) [this.#newest, this.#oldest] = [this.#oldest, this.#newest.reverse()]
    return this.#oldest.pop()
  }
}
