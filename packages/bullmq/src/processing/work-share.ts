import type { ProcessEvent, ProcessingPolicy } from '@ackhook/core/spi'
import type { Engine, QueueEngine } from '../engine/engine.ts'
import { InboxWorker, type InboxWorkerOptions } from './inbox-worker.ts'
import { OutageLog } from './outage-log.ts'
import { Slots } from './slots.ts'

export type WorkShareOptions = Pick<InboxWorkerOptions, 'limits' | 'minutes' | 'onError'> & {
  readonly limiter: { readonly max: number; readonly duration: number } | undefined
}

interface Member {
  readonly worker: InboxWorker
  readonly limiter: { max: number; readonly duration: number } | undefined
  /** Jobs of this queue whose end is not recorded. */
  taken: number
}

/**
 * Steps 10 and 11: this process's share of the work, with one worker per queue. While a slot is free, each worker may
 * take one more job, so that each begins as soon as it is here: BullMQ's loop begins none before it has taken as many as
 * it may. A worker without a job always waits for one. So with several queues a process takes at most as many surplus
 * jobs as there are queues, and these wait for a slot.
 */
export class WorkShare {
  readonly #engine: Engine
  readonly #work: ProcessEvent
  readonly #policy: ProcessingPolicy
  readonly #options: WorkShareOptions
  readonly #outages: OutageLog
  readonly #slots: Slots
  readonly #members = new Map<QueueEngine, Member>()
  #taken = 0
  #draining = false

  constructor(engine: Engine, work: ProcessEvent, policy: ProcessingPolicy, options: WorkShareOptions) {
    this.#engine = engine
    this.#work = work
    this.#policy = policy
    this.#options = options
    this.#outages = new OutageLog(policy.observe, 'work', engine)
    this.#slots = new Slots(policy.concurrency)
    this.#open()
    engine.onMoreQueues?.(() => this.#open())
  }

  ready(): Promise<unknown> {
    return Promise.all(this.#workers().map(worker => worker.ready()))
  }

  /** Stops taking jobs, waits for running ones, then returns the rest to the queue. */
  async drain(timeoutMs: number): Promise<void> {
    this.#draining = true
    const workers = this.#workers()
    let taking = workers.length
    // Once every worker has withdrawn its attempts, those that wait for a slot have nothing to wait for.
    const onOver = (): void => {
      taking--
      if (taking === 0) this.#slots.open()
    }
    await Promise.all(workers.map(worker => worker.drain(timeoutMs, onOver)))
  }

  #workers(): readonly InboxWorker[] {
    return [...this.#members.values()].map(({ worker }) => worker)
  }

  #open(): void {
    if (this.#draining) return
    const { queues } = this.#engine
    for (const queue of queues)
      if (!this.#members.has(queue)) this.#members.set(queue, this.#newMember(queue))
    for (const [index, { limiter }] of [...this.#members.values()].entries()) {
      // BullMQ reads it whenever it takes a job.
      if (limiter !== undefined) limiter.max = shareOf(this.#options.limiter!.max, queues.length, index)
    }
    this.#share()
  }

  #newMember(queue: QueueEngine): Member {
    const { limiter, ...options } = this.#options
    const own = {
      ...options,
      limiter: limiter && { ...limiter },
      slots: this.#slots,
      outages: this.#outages,
      onTaken: () => this.#take(member),
    }
    const worker = new InboxWorker(queue, this.#work, this.#policy, own)
    const member: Member = { worker, limiter: own.limiter, taken: 0 }
    return member
  }

  #take(member: Member): () => void {
    let isEnded = false
    this.#count(member, 1)
    return () => {
      if (isEnded) return
      isEnded = true
      this.#count(member, -1)
    }
  }

  #count(member: Member, jobs: number): void {
    member.taken += jobs
    this.#taken += jobs
    this.#share()
  }

  #share(): void {
    const more = Number(this.#taken < this.#policy.concurrency)
    for (const { worker, taken } of this.#members.values()) worker.setConcurrency(Math.max(1, taken + more))
  }
}

/** Shares a number evenly, with at least one for each. The first one gets the remainder. */
function shareOf(total: number, parts: number, index: number): number {
  return Math.max(1, Math.floor(total / parts) + Number(index < total % parts))
}
