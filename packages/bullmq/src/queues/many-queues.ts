import { Rounds, type StoreNotice } from '@ackhook/core/spi'
import type {
  Bite,
  Engine,
  KnownJob,
  PreparePolicy,
  QueueCounts,
  QueueEngine,
  QueuePlace,
  RememberedTimes,
} from '../engine/engine.ts'
import type { InboxBoard } from '../engine/event-board.ts'
import type { NewJob } from '../engine/event-job.ts'
import type { FoundJob, JobQuery, ListedJob } from '../engine/job-list.ts'
import type { QueuePause } from '../engine/queue-pause.ts'
import { mergeLists } from './merge-lists.ts'
import { placeOf } from './place-of.ts'
import { numberedQueue, type QueueRecord } from './queue-record.ts'

/** Longest time until a process notices that another one uses a new number of queues. */
const REFRESH_MS = 5000
const DEADLINE_MS = 30_000

/**
 * Several queues as one. The hash of an event's id determines its queue. An event is also looked up in the queues that
 * earlier numbers of queues determine, if used within the retention. A query for a single event goes to all queues.
 *
 * It stands before a single queue too: only the record tells that there are others. Without it, a process that has not
 * been deployed again yet would accept and run events that those with more queues already have, and a tool, which does
 * not know the option, would miss dead letters.
 */
export class ManyQueues implements Engine {
  readonly queues: QueueEngine[]
  readonly board: InboxBoard
  readonly #first: QueueEngine
  readonly #count: number
  readonly #place: QueuePlace
  readonly #open: (place: QueuePlace) => QueueEngine
  readonly #record: QueueRecord
  /** Numbers of queues in the record, without this process's own. */
  #otherCounts: readonly number[] = []
  #retentionMs = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #rounds: Rounds<void> | undefined
  #closed = false
  #onMore = (): void => {}

  /** `place`: that of the first queue. */
  constructor(
    count: number,
    place: QueuePlace,
    open: (place: QueuePlace) => QueueEngine,
    record: QueueRecord,
  ) {
    this.#count = count
    this.#place = place
    this.#open = open
    this.#record = record
    this.#first = open(place)
    this.queues = [this.#first]
    this.board = boardOf(this.#first.board, this.queues)
  }

  get name(): string {
    return this.#first.name
  }

  get traced(): boolean {
    return this.#first.traced
  }

  get refused(): Promise<never> | undefined {
    return this.#first.refused
  }

  onMoreQueues(listener: () => void): void {
    this.#onMore = listener
  }

  reasonOf(error: unknown): unknown {
    return this.#first.reasonOf(error)
  }

  async ready(): Promise<void> {
    await this.#first.ready()
    this.#looking ??= this.#look().catch(error => {
      this.#looking = undefined
      throw error
    })
    await this.#looking
    await this.#all(queue => queue.ready())
  }

  exists(): Promise<boolean> {
    return this.#first.exists()
  }

  async prepare(policy: PreparePolicy): Promise<void> {
    this.#retentionMs = policy.retentionMs
    await this.#record.use(this.#count)
    await this.#look()
    await this.#all(queue => queue.prepare(policy))
    await this.#followPause()
    if (this.#closed) return
    this.#rounds ??= this.#createRounds(policy.rounds)
    this.#rounds.next(REFRESH_MS)
  }

  add(jobs: readonly NewJob[]): readonly Promise<boolean | KnownJob>[] {
    if (this.queues.length === 1) return this.#first.add(jobs)
    const moved = jobs.filter(({ opts }) => this.#placesOf(opts.jobId).length > 1)
    if (moved.length === 0) return this.#addAtHome(jobs)
    const isMoved = new Set(moved)
    const unmoved = this.#addAtHome(jobs.filter(job => !isMoved.has(job)))[Symbol.iterator]()
    const later = this.#addUnlessKnown(moved)
    return jobs.map(job => {
      if (!isMoved.has(job)) return unmoved.next().value as Promise<boolean | KnownJob>
      return later.then(answers => answers.get(job)!)
    })
  }

  async lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    return this.#lookUpIn(jobIds, jobId => this.#placesOf(jobId))
  }

  async countUnfinished(limit: number): Promise<number> {
    const counts = await this.#all(queue => queue.countUnfinished(limit))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async readCounts(): Promise<QueueCounts> {
    return (await this.#all(queue => queue.readCounts())).reduce(sumOf)
  }

  requeue(jobId: string, redelivery?: NewJob): Promise<boolean> {
    return this.#any(queue => queue.requeue(jobId, redelivery))
  }

  requeueMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return this.#union(queue => queue.requeueMany(jobIds))
  }

  discardMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return this.#union(queue => queue.discardMany(jobIds))
  }

  async *scan(): AsyncIterable<readonly string[]> {
    for (const queue of this.queues) yield* queue.scan()
  }

  eraseWaiting(jobId: string): Promise<boolean> {
    return this.#any(queue => queue.eraseWaiting(jobId))
  }

  now(): Promise<number> {
    return this.#first.now()
  }

  async discardOlder(failedBefore: number, limit: number): Promise<number> {
    const counts = await this.#all(queue => queue.discardOlder(failedBefore, limit))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  forget(jobId: string): Promise<boolean> {
    return this.#any(queue => queue.forget(jobId))
  }

  async newestWaiting(limit: number): Promise<readonly string[]> {
    return (await this.#all(queue => queue.newestWaiting(limit))).flat()
  }

  list(query: JobQuery): Promise<readonly ListedJob[]> {
    if (this.queues.length === 1) return this.#first.list(query)
    const lists = this.queues.map(queue => async (part: JobQuery) => {
      const jobs = await queue.list(part)
      return jobs.map(job => ({ ...job, queue: queue.name }))
    })
    return mergeLists(lists, query)
  }

  async find(jobId: string): Promise<FoundJob | undefined> {
    const found = await this.#all(async queue => {
      const job = await queue.find(jobId)
      return job && { ...job, queue: queue.name }
    })
    return found.find(job => job?.state === 'dead') ?? found.find(job => job !== undefined)
  }

  async remembered(jobId: string): Promise<RememberedTimes | undefined> {
    return (await this.#all(queue => queue.remembered(jobId))).find(times => times !== undefined)
  }

  nameJobs(names: ReadonlyMap<string, string>): Promise<unknown> {
    return this.#first.nameJobs(names)
  }

  findName(key: string): Promise<string | undefined> {
    return this.#first.findName(key)
  }

  prune(bite: Bite): Promise<boolean> {
    return this.#any(queue => queue.prune(bite))
  }

  isFull(error: unknown): boolean {
    return this.#first.isFull(error)
  }

  pause(): Promise<boolean> {
    return this.#firstThenOthers(queue => queue.pause())
  }

  resume(): Promise<boolean> {
    return this.#firstThenOthers(queue => queue.resume())
  }

  async paused(): Promise<QueuePause | undefined> {
    return firstPause(await this.#all(queue => queue.paused()))
  }

  async notices(): Promise<readonly StoreNotice[]> {
    const notices = (await this.#all(queue => queue.notices())).flat()
    return [...new Map(notices.map(notice => [notice.message, notice])).values()]
  }

  close(): Promise<unknown> {
    this.#stop()
    return this.#all(queue => queue.close())
  }

  async disconnect(): Promise<void> {
    this.#stop()
    await this.#all(queue => queue.disconnect())
  }

  #stop(): void {
    this.#closed = true
    void this.#rounds?.end()
  }

  /** Any other call to this server reports a failure. */
  #createRounds(board: PreparePolicy['rounds']): Rounds<void> {
    return new Rounds<void>({
      name: 'queues',
      board,
      deadlineMs: DEADLINE_MS,
      run: () => this.#refresh(),
      succeeded: () => REFRESH_MS,
      failed: () => REFRESH_MS,
    })
  }

  /** Returns the queues that may have an event: its current queue, and those by other numbers of queues. */
  #placesOf(jobId: string): readonly QueueEngine[] {
    const home = this.queues[placeOf(jobId, this.#count)]!
    if (this.#otherCounts.length === 0) return [home]
    return [...new Set([home, ...this.#otherCounts.map(count => this.queues[placeOf(jobId, count)]!)])]
  }

  #addAtHome(jobs: readonly NewJob[]): readonly Promise<boolean | KnownJob>[] {
    const answers: Promise<boolean | KnownJob>[] = []
    const groups = grouped(jobs.keys(), i => [this.queues[placeOf(jobs[i]!.opts.jobId, this.#count)]!])
    for (const [queue, indexes] of groups) {
      const added = queue.add(indexes.map(i => jobs[i]!))
      for (const [j, i] of indexes.entries()) answers[i] = added[j]!
    }
    return answers
  }

  /** Adds events that may still be in a queue by an earlier number of queues. */
  async #addUnlessKnown(
    jobs: readonly NewJob[],
  ): Promise<ReadonlyMap<NewJob, boolean | KnownJob | Promise<boolean | KnownJob>>> {
    const known = await this.#lookUpIn(
      jobs.map(({ opts }) => opts.jobId),
      jobId => this.#placesOf(jobId).slice(1),
    )
    const unknown = jobs.filter(({ opts }) => !known.has(opts.jobId))
    const added = this.#addAtHome(unknown)
    const answers = new Map<NewJob, boolean | KnownJob | Promise<boolean | KnownJob>>()
    for (const job of jobs) answers.set(job, known.get(job.opts.jobId) ?? added[unknown.indexOf(job)]!)
    return answers
  }

  async #lookUpIn(
    jobIds: readonly string[],
    placesOf: (jobId: string) => readonly QueueEngine[],
  ): Promise<ReadonlyMap<string, KnownJob>> {
    const found = new Map<string, KnownJob>()
    const lookUps = [...grouped(jobIds, placesOf)].map(([queue, ids]) => queue.lookUp(ids))
    for (const known of await Promise.all(lookUps)) for (const [id, job] of known) found.set(id, job)
    return found
  }

  /** Opens the queues that other processes use or have used. */
  async #look(): Promise<void> {
    const used = await this.#record.read()
    const before = this.queues.length
    const most = Math.max(this.#count, ...used.keys())
    while (this.queues.length < most && !this.#closed)
      this.queues.push(this.#open(numberedQueue(this.#place, this.queues.length + 1)))
    this.#otherCounts = [...used.keys()].filter(count => count !== this.#count)
    if (this.queues.length > before) this.#onMore()
    for (const [count, ageMs] of used) {
      if (count !== this.#count && ageMs > this.#retentionMs) await this.#retire(count, used)
    }
  }

  /** The first queue's pause decides for all: see {@link ManyQueues.#followPause}. */
  async #firstThenOthers(change: (queue: QueueEngine) => Promise<boolean>): Promise<boolean> {
    const isFirst = await change(this.#first)
    const others = await Promise.all(this.queues.slice(1).map(change))
    return isFirst || others.includes(true)
  }

  /**
   * Makes all queues follow the first: those that were added since its pause, and those that a process left behind which
   * died in the middle of a pause or its end. The first is read last, since it is changed first.
   */
  async #followPause(): Promise<void> {
    const others = this.queues.slice(1)
    if (others.length === 0) return
    const pauses = await Promise.all(others.map(queue => queue.paused()))
    const isPaused = (await this.#first.paused())?.isOwn === true
    const behind = others.filter((_, i) => (pauses[i]?.isOwn === true) !== isPaused)
    await Promise.all(behind.map(queue => (isPaused ? queue.pause() : queue.resume())))
  }

  /** Forgets a number once its ids are forgotten and the queues that only it had are empty. */
  async #retire(count: number, used: ReadonlyMap<number, number>): Promise<void> {
    const rest = Math.max(this.#count, ...[...used.keys()].filter(other => other !== count))
    const counts = await Promise.all(this.queues.slice(rest, count).map(queue => queue.readCounts()))
    if (counts.every(({ pending, active, dead }) => pending + active + dead === 0))
      await this.#record.forget(count)
  }

  async #refresh(): Promise<void> {
    await this.#record.use(this.#count)
    await this.#look()
    await this.#followPause()
  }

  #all<T>(ask: (queue: QueueEngine) => Promise<T>): Promise<T[]> {
    return Promise.all(this.queues.map(ask))
  }

  async #any(ask: (queue: QueueEngine) => Promise<boolean>): Promise<boolean> {
    return (await this.#all(ask)).includes(true)
  }

  async #union(ask: (queue: QueueEngine) => Promise<readonly string[]>): Promise<readonly string[]> {
    return [...new Set((await this.#all(ask)).flat())]
  }
}

/** Combines the boards: the first queue's has the processes and counts, each queue's its own postponed events. */
function boardOf(first: InboxBoard, queues: readonly QueueEngine[]): InboxBoard {
  return {
    activity: first.activity,
    publish: async own => {
      await Promise.all(queues.map(({ board }) => board.publish(own)))
    },
    read: async () => {
      const views = await Promise.all(queues.map(({ board }) => board.read()))
      const postponed = views.reduce((sum, view) => sum + view.postponed, 0)
      return { processes: views[0]!.processes, postponed, pause: firstPause(views.map(({ pause }) => pause)) }
    },
    count: minute => first.count(minute),
    minutes: () => first.minutes(),
  }
}

/** Returns the pause that says most: one of the inbox, or else one that was made elsewhere. */
function firstPause(pauses: readonly (QueuePause | undefined)[]): QueuePause | undefined {
  return pauses.find(pause => pause?.isOwn) ?? pauses.find(pause => pause !== undefined)
}

function sumOf(a: QueueCounts, b: QueueCounts): QueueCounts {
  const earliest = (...times: (number | undefined)[]): number | undefined => {
    const known = times.filter(at => at !== undefined)
    return known.length === 0 ? undefined : Math.min(...known)
  }
  return {
    pending: a.pending + b.pending,
    active: a.active + b.active,
    dead: a.dead + b.dead,
    retrying: a.retrying + b.retrying,
    oldestAt: earliest(a.oldestAt, b.oldestAt),
    untriedAt: earliest(a.untriedAt, b.untriedAt),
    waitingError: a.waitingError ?? b.waitingError,
    ...((a.paused || b.paused) && { paused: true }),
  }
}

function grouped<T>(
  items: Iterable<T>,
  placesOf: (item: T) => readonly QueueEngine[],
): ReadonlyMap<QueueEngine, readonly T[]> {
  const groups = new Map<QueueEngine, T[]>()
  for (const item of items) {
    for (const queue of placesOf(item)) {
      const group = groups.get(queue)
      if (group === undefined) groups.set(queue, [item])
      else group.push(item)
    }
  }
  return groups
}
