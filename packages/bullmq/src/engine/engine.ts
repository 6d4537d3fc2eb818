import type { InboxStats } from '@ackhook/core'
import type { ProcessingPolicy, StoreNotice } from '@ackhook/core/spi'
import type { Telemetry, WorkerOptions } from 'bullmq'
import type { EventBoard } from './event-board.ts'
import type { EventJob, NewJob, Remembered } from './event-job.ts'
import type { Fetching } from './fetching.ts'
import type { FoundJob, JobQuery, ListedJob } from './job-list.ts'
import type { LeaseLimits } from './lease-limits.ts'
import type { LockToken } from './lock-token.ts'
import type { QueuePause } from './queue-pause.ts'

/**
 * Outcome of locking a job again after its attempt lost the lock: `relocked` for this attempt; its end is already
 * `recorded`; `taken` by another attempt; taken once more by this worker (`own`); or `gone`, because it was removed.
 */
export type Relocked = 'relocked' | 'recorded' | 'taken' | 'own' | 'gone'

export interface WorkerSettings extends Pick<WorkerOptions, 'maxStalledCount' | 'settings' | 'limiter'> {
  readonly limits: LeaseLimits
}

/** Settings of both engines, apart from their connection. */
export interface EngineSettings {
  /** The option, from which the name of BullMQ's queue derives. */
  readonly queue: string
  /** Redis only. */
  readonly prefix: string | undefined
  readonly telemetry: Telemetry | undefined
  readonly limits: LeaseLimits
  /** Creates the queue if there is none. */
  readonly create: boolean
}

/** The part of BullMQ's worker that this package uses, whatever its backend. */
export interface QueueWorker extends Fetching {
  on(event: 'error', listener: (error: Error) => void): unknown
  emit(event: 'error', error: Error): unknown
  waitUntilReady(): Promise<unknown>
  startStalledCheckTimer(): Promise<void>
  close(): Promise<void>
  disconnect(): Promise<void>
  /** Resolves to the ids of the jobs that are no longer locked with their token. Rejects if the server is unreachable. */
  extendJobLocks(jobIds: string[], tokens: LockToken[], lockMs: number): Promise<string[]>
  /** Locks the job again for the attempt that had it, even if its lock has expired and the job waits. */
  relock(job: EventJob, token: LockToken, lockMs: number): Promise<Relocked>
  /**
   * Stores the progress of a job that is locked with this token, and renews the lock. Resolves to `false` if the lock is
   * gone.
   */
  recordBegin(jobId: string, token: LockToken, progress: string, lockMs: number): Promise<boolean>
  /** Ends a series of crashes: sets BullMQ's stall count of the job to 0, whatever its state, with our record. */
  resetCrashCount(jobId: string): Promise<unknown>
  /** Returns the job locked with this token, if there is one, to the waiting jobs: it has not begun. */
  release(token: LockToken): Promise<unknown>
}

/** Job that already has a redelivery's id, or the part of that job that is still remembered. */
export interface KnownJob extends Partial<Remembered> {
  /** `true` if the job is kept as failed: a dead letter. An unreadable job has neither token nor fingerprint. */
  readonly dead: boolean
}

/** Milliseconds since the epoch. */
export interface RememberedTimes {
  readonly handledAt: number
  readonly rememberedUntil: number
}

export interface QueueCounts
  extends Pick<InboxStats, 'pending' | 'active' | 'dead' | 'paused' | 'oldestSnapshotMs' | 'deadRows'> {
  /** Jobs that wait for a later time. */
  readonly retrying: number
  /**
   * Time at which the oldest event was accepted that could run and never has, in milliseconds since the epoch. None could
   * run while the queue is paused.
   */
  readonly untriedAt: number | undefined
  /** Time at which the oldest unfinished event was accepted, in milliseconds since the epoch. */
  readonly oldestAt: number | undefined
  /** Failure of an event that waits for another attempt. */
  readonly waitingError?: string | undefined
}

/** Greatest age at which a handled job is replaced, unless all processes were stopped, or a clock is wrong. */
export const MAX_AGE_MS = 60_000

/** One round of pruning. */
export interface Bite {
  /** Jobs that were handled longer ago than this, by the server's clock, are replaced by their ids. */
  readonly wholeMs: number
  readonly limit: number
  /** `true` to prune even while another process does, because the server needs the memory now. */
  readonly isUrgent: boolean
}

/** One inbox on BullMQ: its queue, with its connections. Both engines give the same guarantees. */
export interface Engine {
  /** Name of its queue in BullMQ. */
  readonly name: string
  readonly board: EventBoard
  /** `true` if the user set BullMQ's telemetry. */
  readonly traced: boolean
  /** Resolves when the server is reached. Present only if BullMQ creates its tables at start, which takes longer. */
  readonly migrating?: Promise<unknown>
  /**
   * Rejects if the server refuses the client for good, as with a wrong password, and for a tool, which creates nothing,
   * if it cannot be reached. Present only if a client would retry.
   */
  readonly refused?: Promise<never> | undefined
  /**
   * Returns the cause of a failure: the first error of the server or the socket, if the client hides it behind its own.
   */
  reasonOf(error: unknown): unknown
  /** Resolves when the engine is connected. */
  ready(): Promise<unknown>
  /** Resolves to whether the server has this queue. */
  exists(): Promise<boolean>
  /** Rejects if an earlier version left events in a form of its own. Changes nothing. */
  refuseEarlier(): Promise<void>
  /** Creates this package's own tables beside BullMQ's, if they are missing. */
  prepare(policy: PreparePolicy): Promise<void>
  /**
   * Adds the jobs whose ids are new, neither jobs nor remembered. Each has its own result: `true` if the stored job is
   * this delivery's, the id's existing state if it is not, and `false` if a lookup has to decide.
   */
  add(jobs: readonly NewJob[]): readonly Promise<boolean | KnownJob>[]
  /** Returns the existing jobs by id, each as of one moment. */
  lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>>
  /** Counts the events that wait or run. May stop at the limit. */
  countUnfinished(limit: number): Promise<number>
  readCounts(): Promise<QueueCounts>
  /**
   * Moves a dead letter back to the waiting jobs in one step. Its counts of attempts and crashes start again, and it
   * gets the name, data and order of `redelivery`, if given. `false` if the job is no longer a dead letter.
   */
  requeue(jobId: string, redelivery?: NewJob): Promise<boolean>
  /** Moves many dead letters back, without a redelivery. Resolves to the ids of those that were moved. */
  requeueMany(jobIds: readonly string[]): Promise<readonly string[]>
  /**
   * Removes the jobs that are dead letters, each in one step: a job that was just requeued must stay. Resolves to their
   * ids.
   */
  discardMany(jobIds: readonly string[]): Promise<readonly string[]>
  /** Yields the ids of the jobs that wait, run or have failed, a few at a time. */
  scan(): AsyncIterable<readonly string[]>
  /** Removes a job if it waits, in one step. */
  eraseWaiting(jobId: string): Promise<boolean>
  /** Returns the server's time, in milliseconds since the epoch: it stamps the end of each dead letter. */
  now(): Promise<number>
  /** Removes the oldest of the dead letters that failed before a time of the server's clock. Resolves to how many. */
  discardOlder(failedBefore: number, limit: number): Promise<number>
  /** Forgets a handled event's id in one step. `false` if the id is not remembered as handled. */
  forget(jobId: string): Promise<boolean>
  /** Returns the ids of some of the jobs that arrived last and wait for their first attempt. */
  newestWaiting(limit: number): Promise<readonly string[]>
  /** Returns one page. Jobs of other producers may be among them. */
  list(query: JobQuery): Promise<readonly ListedJob[]>
  /** Returns one job with its body. `undefined` if there is none. */
  find(jobId: string): Promise<FoundJob | undefined>
  /** Returns when a handled event, of which only the id is left, was handled. `undefined` if its id is not remembered. */
  remembered(jobId: string): Promise<RememberedTimes | undefined>
  /** Stores the keys under which unreadable jobs are found: job ids by key. */
  nameJobs(names: ReadonlyMap<string, string>): Promise<unknown>
  /** Returns the id of the job that was stored under this key. */
  findName(key: string): Promise<string | undefined>
  /**
   * Replaces handled jobs by their remembered ids, each in one step, and forgets ids whose retention is over. Does
   * nothing while another process has jobs to replace. Resolves to whether there may be more.
   */
  prune(bite: Bite): Promise<boolean>
  /** Returns whether the server is out of memory, so that pruning helps. */
  isFull(error: unknown): boolean
  /** Pauses the handling of events. `false` if it is paused already. */
  pause(): Promise<boolean>
  /** Ends the pause, whoever made it. `false` if there is none. */
  resume(): Promise<boolean>
  paused(): Promise<QueuePause | undefined>
  /** Resolves to notices about the server's settings, for an operator. */
  notices(): Promise<readonly StoreNotice[]>
  newWorker(settings: WorkerSettings): QueueWorker
  /** Waits for calls that are pending on the server. */
  close(): Promise<unknown>
  /** Ends the remaining connections, with or without the server's help. */
  disconnect(): Promise<void>
}

/** Receiver options that apply to future events. */
export type PreparePolicy = Pick<ProcessingPolicy, 'serialize' | 'retentionMs' | 'rounds'>
