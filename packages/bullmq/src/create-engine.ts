import type { Processor, WorkerOptions } from 'bullmq'
import type { EventQueue, JobData, NewJob } from './engine/event-job.ts'
import type { ResolvedOptions } from './options.ts'
import { createPostgresEngine } from './postgres/postgres-engine.ts'
import { createRedisEngine } from './redis/redis-engine.ts'

export type WorkerSettings = Omit<WorkerOptions, 'connection' | 'prefix'>
export type EventProcessor = Processor<JobData, unknown, string>

/** The part of BullMQ's worker that is used here, whatever its backend. */
export interface EventWorker {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'failed', listener: () => void): unknown
  waitUntilReady(): Promise<unknown>
  close(): Promise<void>
  disconnect(): Promise<void>
  /** Answers with the jobs that are not locked with their token any more. Rejects while the server is gone. */
  extendJobLocks(jobIds: string[], tokens: string[], lockMs: number): Promise<string[]>
  /** Sets BullMQ's count of the job's stalls to 0, whatever its state. */
  resetCrashCount(jobId: string): Promise<unknown>
}

/** What is to be known of a job whose event has come again. */
export interface KnownJob {
  readonly fingerprint: number
  /** Of the delivery that it came of. */
  readonly token: string
  /** Whether it is kept as failed: a dead letter. */
  readonly dead: boolean
}

/** A warning that refuses nothing. */
export interface Notice {
  readonly code: string
  readonly message: string
}

/** BullMQ with its connections. */
export interface Engine {
  readonly queue: EventQueue
  /** Whether the user has BullMQ's telemetry. */
  readonly traced: boolean
  /**
   * Adds the jobs whose ids are not known yet. Answers for each by itself: `true` when it is there and nobody
   * else's, `false` when that takes another look.
   */
  add(jobs: readonly NewJob[]): readonly Promise<boolean>[]
  /** The jobs that are there, each as it was at one moment, by their ids. */
  look(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>>
  /** How many events wait or run. */
  countHeld(): Promise<number>
  /**
   * Moves the job, in one step, from the dead letters to the waiting, with all its attempts, and makes it that of
   * the delivery that came again. `false` when it is no dead letter any more.
   */
  rearm(jobId: string, again?: Pick<NewJob, 'name' | 'data'>): Promise<boolean>
  /** Removes the job, in one step, if it is a dead letter: a re-armed one must not go. */
  discard(jobId: string): Promise<boolean>
  newWorker(process: EventProcessor, settings: WorkerSettings): EventWorker
  /** Only where BullMQ makes its tables as it starts, which takes its time: resolves when the server is reached. */
  readonly migrating?: Promise<unknown>
  /** What an operator should know of the server's settings. */
  notices(): Promise<readonly Notice[]>
  /** Ends what is left of the connections, with or without the server's help. */
  disconnect(): Promise<void>
}

export async function createEngine(options: ResolvedOptions): Promise<Engine> {
  const engine = await (options.engine.kind === 'redis'
    ? createRedisEngine(options, options.engine.connection)
    : createPostgresEngine(options, options.engine.connection))
  // Whoever asks the queue hears of the failure; without a listener BullMQ would print it as well.
  engine.queue.on('error', () => {})
  return engine
}
