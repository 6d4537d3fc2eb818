import type { ProcessingPolicy } from '../inbox.ts'
import type { Entry } from './entry.ts'

/** The order in which entries get their attempts. */
export interface ReadyQueue {
  /** For the first attempt, and again when a retry is due. */
  push(entry: Entry): void
  /** The next entry that may run now. */
  shift(): Entry | undefined
  /** Removes an entry that is finished. Whether another one may run because of that. */
  remove?(entry: Entry): boolean
}

/** First in, first out; or one at a time for each ordering key when the policy serializes. */
export function createReadyQueue({ serialize }: Pick<ProcessingPolicy, 'serialize'>): ReadyQueue {
  return serialize ? new SerialQueue() : new Fifo<Entry>()
}

/** Entries of one ordering key. */
interface KeyQueue {
  /** The oldest `created_at` first; those of one instant in the order of arrival. */
  readonly waiting: Entry[]
  /** The entry that has the key: from the start of its first attempt until it is finished. */
  holder: Entry | undefined
}

/**
 * Runs the events of one ordering key one at a time, the oldest waiting one first. An event that waits for a retry
 * keeps its key, so that no later one overtakes it. Events without a key run independently.
 */
export class SerialQueue implements ReadyQueue {
  /** Keys whose next entry may run. */
  readonly #ready = new Fifo<KeyQueue>()
  readonly #byKey = new Map<string | Entry, KeyQueue>()

  push(entry: Entry): void {
    const key = keyOf(entry)
    const queue = this.#byKey.get(key) ?? { waiting: [], holder: undefined }
    this.#byKey.set(key, queue)
    if (queue.holder === entry) {
      queue.holder = undefined
      // To the front, whatever its age: one of the same instant, or a late older one, arrived after it.
      queue.waiting.unshift(entry)
      this.#ready.push(queue)
    } else {
      if (isIdle(queue)) this.#ready.push(queue)
      insertByAge(queue.waiting, entry)
    }
  }

  shift(): Entry | undefined {
    for (let queue = this.#ready.shift(); queue !== undefined; queue = this.#ready.shift()) {
      queue.holder = queue.waiting.shift()
      if (queue.holder !== undefined) return queue.holder
    }
    return undefined
  }

  remove(entry: Entry): boolean {
    const key = keyOf(entry)
    const queue = this.#byKey.get(key)
    if (queue === undefined) return false
    const freesKey = queue.holder === entry
    if (freesKey) queue.holder = undefined
    else removeFrom(queue.waiting, entry)
    if (isIdle(queue)) {
      this.#byKey.delete(key)
      return false
    }
    if (freesKey) this.#ready.push(queue)
    return freesKey
  }
}

/** An entry without an ordering key is a key of its own. */
function keyOf(entry: Entry): string | Entry {
  return entry.delivery.order?.key ?? entry
}

function isIdle({ holder, waiting }: KeyQueue): boolean {
  return holder === undefined && waiting.length === 0
}

function insertByAge(waiting: Entry[], entry: Entry): void {
  let index = waiting.length
  while (index > 0 && createdAt(waiting[index - 1]) > createdAt(entry)) index--
  waiting.splice(index, 0, entry)
}

function removeFrom(waiting: Entry[], entry: Entry): void {
  const index = waiting.indexOf(entry)
  if (index !== -1) waiting.splice(index, 1)
}

function createdAt(entry: Entry | undefined): number {
  return entry?.delivery.order?.createdAt ?? 0
}

/** First in, first out, at the same cost however long it is. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  /** Where the oldest item is. What lies before it is dropped once that is worth the copy. */
  #head = 0

  push(value: T): void {
    this.#items.push(value)
  }

  shift(): T | undefined {
    const value = this.#items[this.#head]
    if (value === undefined) return undefined
    this.#items[this.#head++] = undefined
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return value
  }
}
