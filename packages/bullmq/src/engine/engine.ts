import type { StoreNotice } from '@ackhook/core/spi'
import type { Processor, Telemetry, WorkerOptions } from 'bullmq'
import type { EventQueue, JobData, NewJob } from './event-job.ts'

export type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix' | 'telemetry'>
export type JobProcessor = Processor<JobData, unknown, string>

/** What both engines need beside their connection. */
export interface EngineSettings {
  readonly queue: string
  /** Redis only. */
  readonly prefix: string | undefined
  readonly telemetry: Telemetry | undefined
}

/** The part of BullMQ's worker that is used here, whatever its backend. */
export interface QueueWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'failed', listener: () => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
  disconnect(): Promise<void>
  /** Resolves to the ids of the jobs that are no longer locked with their token. Rejects while the server is gone. */
  extendJobLocks(jobIds: string[], tokens: string[], lockMs: number): Promise<string[]>
  /** Sets BullMQ's count of the job's stalls to 0, whatever its state. */
  resetCrashCount(jobId: string): Promise<unknown>
}

/** What a redelivery is compared with: the job that already has its id. */
export interface KnownJob {
  readonly fingerprint: number
  /** The token of the delivery that the job was made from. */
  readonly token: string
  /** Whether the job is kept as failed: a dead letter. */
  readonly dead: boolean
}

/** BullMQ on one server, with its connections. The two engines promise the same. */
export interface Engine {
  readonly queue: EventQueue
  /** Whether the user set BullMQ's telemetry. */
  readonly traced: boolean
  /** Only where BullMQ creates its tables at start, which takes longer: resolves when the server is reached. */
  readonly migrating?: Promise<unknown>
  /**
   * Adds the jobs whose ids are new. Each has its own answer: `true` when the job is stored and is this delivery's,
   * `false` when a lookup has to decide that.
   */
  add(jobs: readonly NewJob[]): readonly Promise<boolean>[]
  /** The jobs that exist, each as it was at one moment, by id. */
  lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>>
  /** How many events wait or run. */
  countUnfinished(): Promise<number>
  /**
   * Moves a dead letter back to the waiting jobs in one step, with fresh counts of attempts and crashes, and with the
   * name and data of `redelivery` where there is one. `false` when the job is no longer a dead letter.
   */
  requeue(jobId: string, redelivery?: Pick<NewJob, 'name' | 'data'>): Promise<boolean>
  /** Removes the job in one step if it is a dead letter: one that was just requeued must stay. */
  discard(jobId: string): Promise<boolean>
  newWorker(run: JobProcessor, settings: WorkerSettings): QueueWorker
  /** What an operator should know about the server's settings. */
  notices(): Promise<readonly StoreNotice[]>
  /** Ends the connections that are left, with or without the server's help. */
  disconnect(): Promise<void>
}
