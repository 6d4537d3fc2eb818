import type { ProcessingPolicy } from '../inbox.ts'
import type { Entry } from './entry.ts'
import { createFifo } from './fifo.ts'
import { createSerialQueue } from './serial-queue.ts'

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
