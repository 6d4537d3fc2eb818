import type { ProcessingPolicy } from '../inbox.ts'
import type { Entry } from './entry.ts'

/** The order in which entries get their attempts. */
export interface ReadyQueue {
  /** For the first attempt, and again when a retry is due. */
  push(entry: Entry): void
  /** The next entry that may run now. */
  shift(): Entry | undefined
  /** The entry will not be pushed again. Whether another one may run for that. */
  settle(entry: Entry): boolean
}

/** First come, first served; or one at a time for each key when the policy serializes. */
export function createReadyQueue(policy: Pick<ProcessingPolicy, 'serialize'>): ReadyQueue {
  return policy.serialize ? createSerialQueue() : { ...createFifo<Entry>(), settle: () => false }
}

/** Events of one key. Held by the one that was handed out, until that one is settled. */
interface Lane {
  /** The oldest `created_at` first; equal ones in the order of arrival. */
  readonly waiting: Entry[]
  holder: Entry | undefined
}

/**
 * Runs events of one key one at a time, in the order of `created_at` among what is waiting. An event that
 * waits for a retry keeps its key: what came later must not overtake it. Without a key there is no order.
 */
export function createSerialQueue(): ReadyQueue {
  const ready = createFifo<Lane>()
  const lanes = new Map<string | Entry, Lane>()

  return {
    push(entry) {
      const key = keyOf(entry)
      const lane = lanes.get(key) ?? { waiting: [], holder: undefined }
      lanes.set(key, lane)
      if (lane.holder === entry) {
        lane.holder = undefined
        // To the front, whatever its age: an event of the same instant, or a late older one, came after it.
        lane.waiting.unshift(entry)
        ready.push(lane)
      } else {
        if (lane.holder === undefined && lane.waiting.length === 0) ready.push(lane)
        insertByAge(lane.waiting, entry)
      }
    },
    shift() {
      for (let lane = ready.shift(); lane !== undefined; lane = ready.shift()) {
        lane.holder = lane.waiting.shift()
        if (lane.holder !== undefined) return lane.holder
      }
      return undefined
    },
    settle(entry) {
      const key = keyOf(entry)
      const lane = lanes.get(key)
      if (lane === undefined) return false
      const freesKey = lane.holder === entry
      if (freesKey) lane.holder = undefined
      else if (lane.waiting.includes(entry)) lane.waiting.splice(lane.waiting.indexOf(entry), 1)
      const isIdle = lane.holder === undefined && lane.waiting.length === 0
      if (isIdle) lanes.delete(key)
      else if (freesKey) ready.push(lane)
      return freesKey && !isIdle
    },
  }
}

/** What has no key runs beside everything: in a lane of its own. */
function keyOf(entry: Entry): string | Entry {
  return entry.delivery.order?.key ?? entry
}

function insertByAge(waiting: Entry[], entry: Entry): void {
  const createdAt = entry.delivery.order?.createdAt ?? 0
  let index = waiting.length
  while (index > 0 && (waiting[index - 1]?.delivery.order?.createdAt ?? 0) > createdAt) index--
  waiting.splice(index, 0, entry)
}

/** A first-in-first-out list whose both ends cost the same, however long it is. */
export interface Fifo<T> {
  push(value: T): void
  shift(): T | undefined
}

/** Shifts by moving a head index, and lets go of the passed half when it is the larger one and worth the copy. */
export function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    push(value) {
      items.push(value)
    },
    shift() {
      const value = items[head]
      if (value === undefined) return undefined
      items[head++] = undefined
      if (head > 1024 && head * 2 > items.length) {
        items = items.slice(head)
        head = 0
      }
      return value
    },
  }
}
