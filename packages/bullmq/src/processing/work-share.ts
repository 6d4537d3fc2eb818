import type { ProcessEvent, ProcessingPolicy } from '@ackhook/core/spi'
import type { Engine } from '../engine/engine.ts'
import { InboxWorker, type InboxWorkerOptions } from './inbox-worker.ts'
import { OutageLog } from './outage-log.ts'
import { Slots } from './slots.ts'

export type WorkShareOptions = Pick<InboxWorkerOptions, 'limits' | 'limiter' | 'minutes' | 'onError'>

/**
 * Steps 10 and 11: this process's share of the work. While a slot is free, the worker may take one more job than it has,
 * so that each begins as soon as it is here: BullMQ's loop begins none before it has taken as many as it may.
 */
export class WorkShare {
  readonly #worker: InboxWorker
  readonly #most: number
  /** Jobs whose end is not recorded. */
  #taken = 0

  constructor(engine: Engine, work: ProcessEvent, policy: ProcessingPolicy, options: WorkShareOptions) {
    this.#most = policy.concurrency
    this.#worker = new InboxWorker(engine, work, policy, {
      ...options,
      slots: new Slots(policy.concurrency),
      outages: new OutageLog(policy.observe, 'work', engine),
      onTaken: () => this.#take(),
    })
  }

  ready(): Promise<unknown> {
    return this.#worker.ready()
  }

  /** Stops taking jobs, waits for running ones, then returns the rest to the queue. */
  drain(timeoutMs: number): Promise<void> {
    return this.#worker.drain(timeoutMs)
  }

  #take(): () => void {
    let isEnded = false
    this.#count(1)
    return () => {
      if (isEnded) return
      isEnded = true
      this.#count(-1)
    }
  }

  #count(jobs: number): void {
    this.#taken += jobs
    this.#worker.setConcurrency(Math.min(this.#taken + 1, this.#most))
  }
}
