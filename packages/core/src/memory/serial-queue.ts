import type { Entry } from './entry.ts'
import { createFifo } from './fifo.ts'
import type { ReadyQueue } from './ready-queue.ts'

/** Events of one key. Held by the one that was handed out, until that one is settled. */
interface Lane {
  readonly key: string | undefined
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
  const keyed = new Map<string, Lane>()
  const laneOf = new Map<Entry, Lane>()

  function findLane(entry: Entry): Lane {
    const key = entry.delivery.order?.key
    let lane = laneOf.get(entry) ?? (key === undefined ? undefined : keyed.get(key))
    if (lane === undefined) {
      lane = { key, waiting: [], holder: undefined }
      if (key !== undefined) keyed.set(key, lane)
    }
    laneOf.set(entry, lane)
    return lane
  }

  return {
    push(entry) {
      const lane = findLane(entry)
      const comesBack = lane.holder === entry
      if (comesBack) lane.holder = undefined
      if (comesBack || (lane.holder === undefined && lane.waiting.length === 0)) ready.push(lane)
      // To the front, whatever its age: an event of the same instant, or a late older one, came after it.
      if (comesBack) lane.waiting.unshift(entry)
      else insertByAge(lane.waiting, entry)
    },
    shift() {
      for (let lane = ready.shift(); lane !== undefined; lane = ready.shift()) {
        lane.holder = lane.waiting.shift()
        if (lane.holder !== undefined) return lane.holder
      }
      return undefined
    },
    settle(entry) {
      const lane = laneOf.get(entry)
      if (lane === undefined) return
      laneOf.delete(entry)
      if (lane.holder === entry) {
        lane.holder = undefined
        if (lane.waiting.length > 0) ready.push(lane)
      } else {
        const index = lane.waiting.indexOf(entry)
        if (index !== -1) lane.waiting.splice(index, 1)
      }
      if (lane.holder === undefined && lane.waiting.length === 0 && lane.key !== undefined)
        keyed.delete(lane.key)
    },
  }
}

function insertByAge(waiting: Entry[], entry: Entry): void {
  const createdAt = entry.delivery.order?.createdAt ?? 0
  let index = waiting.length
  while (index > 0 && (waiting[index - 1]?.delivery.order?.createdAt ?? 0) > createdAt) index--
  waiting.splice(index, 0, entry)
}
