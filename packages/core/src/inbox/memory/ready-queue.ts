import type { Entry } from './entry.ts'
import type { Pauses } from './pauses.ts'

type Ready = Pick<Entry, 'delivery' | 'attempts'>

export interface ReadyQueueParts {
  readonly concurrency: number
  /** Most entries of one group that run at a time. Absent: groups do not count. */
  readonly perGroup?: number | undefined
  readonly pauses?: Pick<Pauses, 'isAny' | 'covers'> | undefined
}

/** Entries of one ordering key. */
class KeyQueue<E extends Ready> {
  /** Oldest `created_at` first; equal times in order of arrival. */
  readonly waiting: E[] = []
  /** Entry that holds the key, from the start of its first attempt until it is finished. */
  holder: E | undefined = undefined
  /** Its place in a lane. Earlier ones are stale. */
  line: Line<E> | undefined = undefined
}

/** Place of a key in the lane, and among the values of the group, of its oldest entry. */
class Line<E extends Ready> {
  readonly queue: KeyQueue<E>
  readonly lane: Lane<E | Line<E>>
  readonly group: string | undefined

  constructor(queue: KeyQueue<E>, lane: Lane<E | Line<E>>, group: string | undefined) {
    this.queue = queue
    this.lane = lane
    this.group = group
  }
}

/**
 * Queue of entries for their next attempt: first in, first out, or groups in turn. Entries of one ordering key run one at
 * a time, oldest first. An entry that waits for a retry keeps its key, so that no later one overtakes it. While first
 * attempts wait, retries begin only in every other turn, and in at most half of the slots.
 */
export class ReadyQueue<E extends Ready> {
  readonly #parts: ReadyQueueParts
  /** Entries without an ordering key, and keys whose oldest entry may run. */
  readonly #first: Lane<E | Line<E>>
  readonly #retries: Lane<E | Line<E>>
  readonly #byKey = new Map<string, KeyQueue<E>>()
  /** What waits for the end of a pause. */
  readonly #parked = new Set<E | KeyQueue<E>>()
  /** Attempts that run, by group. */
  readonly #running = new Map<string, number>()
  readonly #mostRetries: number
  #runningRetries = 0
  #wasRetry = false

  constructor(parts: ReadyQueueParts) {
    this.#parts = parts
    this.#mostRetries = Math.max(1, Math.floor(parts.concurrency / 2))
    const isFull = (group: string): boolean => this.#isFull(group)
    this.#first = parts.perGroup === undefined ? new Fifo() : new RoundRobin(isFull)
    this.#retries = parts.perGroup === undefined ? new Fifo() : new RoundRobin(isFull)
  }

  /** Adds an entry for its first attempt, and again when a retry is due. */
  push(entry: E): void {
    const key = entry.delivery.order?.key
    if (key === undefined) {
      this.#line(entry, entry)
      return
    }
    const queue = this.#byKey.get(key) ?? new KeyQueue<E>()
    this.#byKey.set(key, queue)
    if (queue.holder === entry) {
      queue.holder = undefined
      // Goes to the front, whatever its age: entries of the same instant, and older ones that came late, arrived after
      // it.
      queue.waiting.unshift(entry)
      this.#line(queue, entry)
    } else {
      const isFirst = isIdle(queue)
      insertByAge(queue.waiting, entry)
      // An older one of a type that is not paused may now come before the one that is.
      if (isFirst || this.#parked.delete(queue)) this.#line(queue, queue.waiting[0] ?? entry)
      else this.#lineAnew(queue)
    }
  }

  /** Returns the next entry that may run now, which then holds its key. */
  shift(): E | undefined {
    const { pauses } = this.#parts
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const one = next instanceof Line ? leave(next) : next
      const entry = one instanceof KeyQueue ? one.waiting[0] : one
      if (one === undefined || entry === undefined) continue
      if (pauses?.isAny === true && pauses.covers(entry.delivery.type)) {
        this.#parked.add(one)
        continue
      }
      if (one instanceof KeyQueue) {
        one.waiting.shift()
        one.holder = entry
      }
      return entry
    }
    return undefined
  }

  /** Counts an attempt that begins. Pass what it returns to {@link ended}. */
  began({ delivery, attempts }: E): Turn | undefined {
    const isRetry = attempts > 0
    if (isRetry) this.#runningRetries++
    if (this.#parts.perGroup === undefined) return isRetry ? RETRY : undefined
    const { group = '' } = delivery
    this.#running.set(group, (this.#running.get(group) ?? 0) + 1)
    return { group, isRetry }
  }

  ended({ group, isRetry }: Turn): void {
    if (isRetry) this.#runningRetries--
    if (group === undefined) return
    const left = (this.#running.get(group) ?? 1) - 1
    if (left > 0) this.#running.set(group, left)
    else this.#running.delete(group)
    this.#first.release(group)
    this.#retries.release(group)
  }

  /** Removes a finished entry. Returns whether that lets another one run. */
  remove(entry: E): boolean {
    if (this.#parked.size > 0) this.#parked.delete(entry)
    const key = entry.delivery.order?.key
    const queue = key === undefined ? undefined : this.#byKey.get(key)
    if (key === undefined || queue === undefined) return false
    const freesKey = queue.holder === entry
    const index = queue.waiting.indexOf(entry)
    if (freesKey) queue.holder = undefined
    else if (index !== -1) queue.waiting.splice(index, 1)
    const [first] = queue.waiting
    if (first !== undefined) {
      if (freesKey || (index === 0 && this.#parked.delete(queue))) this.#line(queue, first)
      else this.#lineAnew(queue)
    } else if (queue.holder === undefined) this.#byKey.delete(key)
    return freesKey && first !== undefined
  }

  /** Lines up what waits for the end of a pause, after one has ended. */
  unpark(): void {
    const parked = [...this.#parked]
    this.#parked.clear()
    for (const one of parked) {
      const entry = one instanceof KeyQueue ? one.waiting[0] : one
      if (entry !== undefined) this.#line(one, entry)
    }
  }

  /** `entry`: the one that would run. */
  #line(one: E | KeyQueue<E>, entry: E): void {
    const lane = this.#laneOf(entry)
    const { group } = entry.delivery
    if (!(one instanceof KeyQueue)) {
      lane.push(one, group)
      return
    }
    one.line = new Line(one, lane, group)
    lane.push(one.line, group)
  }

  /** Gives a key another place if its oldest entry has changed and belongs elsewhere: its own group may have free slots. */
  #lineAnew(queue: KeyQueue<E>): void {
    const [first] = queue.waiting
    if (first === undefined || queue.line === undefined) return
    const { lane, group } = queue.line
    if (lane !== this.#laneOf(first) || group !== first.delivery.group) this.#line(queue, first)
  }

  #laneOf({ attempts }: E): Lane<E | Line<E>> {
    return attempts > 0 ? this.#retries : this.#first
  }

  #next(): E | Line<E> | undefined {
    const isRetryTurn = !this.#wasRetry && this.#runningRetries < this.#mostRetries
    const retry = isRetryTurn ? this.#retries.shift() : undefined
    this.#wasRetry = retry !== undefined
    return retry ?? this.#first.shift() ?? (isRetryTurn ? undefined : this.#retries.shift())
  }

  #isFull(group: string): boolean {
    const { perGroup } = this.#parts
    return perGroup !== undefined && (this.#running.get(group) ?? 0) >= perGroup
  }
}

/** Takes a key out of its place. Returns nothing if the key has another place by now. */
function leave<E extends Ready>(line: Line<E>): KeyQueue<E> | undefined {
  const { queue } = line
  if (queue.line !== line) return undefined
  queue.line = undefined
  return queue
}

/** What an attempt that runs counts as. */
interface Turn {
  readonly isRetry: boolean
  readonly group?: string
}

const RETRY: Turn = { isRetry: true }

function isIdle({ holder, waiting }: KeyQueue<Ready>): boolean {
  return holder === undefined && waiting.length === 0
}

function insertByAge<E extends Ready>(waiting: E[], entry: E): void {
  const createdAt = entry.delivery.order?.createdAt ?? 0
  // One that has begun stays first, also while it waits for a slot or for the end of a pause.
  const before = waiting.findLastIndex(
    ({ delivery, attempts }) => attempts > 0 || (delivery.order?.createdAt ?? 0) <= createdAt,
  )
  waiting.splice(before + 1, 0, entry)
}

/** One line of waiting values. */
interface Lane<T> {
  push(value: T, group?: string): void
  shift(): T | undefined
  /** Called when a slot of the group is free again. */
  release(group: string): void
}

/** First-in, first-out queue with constant cost at any length. */
class Fifo<T> implements Lane<T> {
  #newest: T[] = []
  /** Oldest last. */
  #oldest: T[] = []

  get isEmpty(): boolean {
    return this.#newest.length + this.#oldest.length === 0
  }

  push(value: T): void {
    this.#newest.push(value)
  }

  shift(): T | undefined {
    if (this.#oldest.length === 0) {
      if (this.#newest.length === 0) return undefined
      ;[this.#newest, this.#oldest] = [this.#oldest, this.#newest.reverse()]
    }
    return this.#oldest.pop()
  }

  release(): void {}
}

/** Gives turns to groups, one value at a time. A group whose slots are taken has no turn. */
class RoundRobin<T> implements Lane<T> {
  readonly #isFull: (group: string) => boolean
  /** Groups with values. Each is either in `#turns` or in `#held`. */
  readonly #groups = new Map<string, Fifo<T>>()
  readonly #turns = new Fifo<string>()
  readonly #held = new Set<string>()

  constructor(isFull: (group: string) => boolean) {
    this.#isFull = isFull
  }

  push(value: T, group = ''): void {
    const known = this.#groups.get(group)
    const values = known ?? new Fifo<T>()
    values.push(value)
    if (known !== undefined) return
    this.#groups.set(group, values)
    this.#turns.push(group)
  }

  shift(): T | undefined {
    for (let group = this.#turns.shift(); group !== undefined; group = this.#turns.shift()) {
      if (this.#isFull(group)) {
        this.#held.add(group)
        continue
      }
      const values = this.#groups.get(group)
      const value = values?.shift()
      if (values?.isEmpty === false) this.#turns.push(group)
      else this.#groups.delete(group)
      if (value !== undefined) return value
    }
    return undefined
  }

  release(group: string): void {
    if (this.#held.delete(group)) this.#turns.push(group)
  }
}
