import type { Entry } from './entry.ts'
import { createFifo } from './fifo.ts'
import type { ReadyQueue } from './ready-queue.ts'

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
