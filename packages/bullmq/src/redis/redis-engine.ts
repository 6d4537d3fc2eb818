import type { StoreNotice } from '@ackhook/core/spi'
import { Queue, type QueueOptions, type RedisConnectionClient, type RedisOptions, Worker } from 'bullmq'
import type {
  Engine,
  EngineSettings,
  JobProcessor,
  KnownJob,
  QueueWorker,
  WorkerSettings,
} from '../engine/engine.ts'
import type { EventQueue, JobData, NewJob } from '../engine/event-job.ts'
import { type Connect, connector, disconnect, FOR_DELIVERIES, FOR_WORK, ignoreErrors } from './connections.ts'
import { redisNotices } from './notices.ts'
import { DISCARD, LOOK_UP, REQUEUE } from './scripts.ts'

export async function createRedisEngine(
  settings: EngineSettings,
  connection: string | RedisOptions | RedisConnectionClient,
): Promise<Engine> {
  return new RedisEngine(settings, await connector(connection))
}

class RedisEngine implements Engine {
  readonly queue: EventQueue
  readonly traced: boolean
  readonly #name: string
  /** What queue and worker have in common. */
  readonly #shared: Omit<QueueOptions, 'connection'>
  readonly #connect: Connect
  readonly #client: RedisConnectionClient
  readonly #toDisconnect: RedisConnectionClient[] = []

  constructor({ queue, prefix, telemetry }: EngineSettings, connect: Connect) {
    this.#name = queue
    this.#shared = { ...(prefix !== undefined && { prefix }), ...(telemetry && { telemetry }) }
    this.traced = telemetry !== undefined
    this.#connect = connect
    this.#client = connect(FOR_DELIVERIES)
    this.#toDisconnect.push(this.#client)
    this.queue = new Queue<JobData, unknown, string>(queue, { ...this.#shared, connection: this.#client })
  }

  add(jobs: readonly NewJob[]): readonly Promise<boolean>[] {
    // On one connection Redis answers this before it adds anything.
    // One question for all jobs, and single adds. perf: note 26.
    const known = this.#client['exists'](...jobs.map(({ opts }) => this.#key(opts.jobId)))
    return jobs.map(async ({ name, data, opts }) => {
      const [anyKnown] = await Promise.all([known, this.queue.add(name, data, opts)])
      return anyKnown === 0
    })
  }

  async lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    const keys = [this.#key('failed'), ...jobIds.map(id => this.#key(id))]
    const found = (await this.#client['eval'](LOOK_UP, keys.length, ...keys, ...jobIds)) as [
      string | null,
      number,
    ][]
    const known = new Map<string, KnownJob>()
    for (const [i, [data, dead]] of found.entries()) {
      if (data === null) continue
      const { fingerprint, token } = JSON.parse(data) as JobData
      known.set(jobIds[i]!, { fingerprint, token, dead: dead === 1 })
    }
    return known
  }

  async countUnfinished(): Promise<number> {
    const counts = await this.queue.getJobCounts('wait', 'delayed', 'prioritized', 'active')
    return Object.values(counts).reduce((sum, n) => sum + n, 0)
  }

  async requeue(jobId: string, redelivery?: Pick<NewJob, 'name' | 'data'>): Promise<boolean> {
    const keys = ['failed', jobId, 'wait', 'marker', 'events'].map(name => this.#key(name))
    const args = [
      jobId,
      Date.now(),
      ...(redelivery ? [redelivery.name, JSON.stringify(redelivery.data)] : []),
    ]
    return Number(await this.#client['eval'](REQUEUE, keys.length, ...keys, ...args)) === 1
  }

  async discard(jobId: string): Promise<boolean> {
    const keys = ['failed', jobId, `${jobId}:logs`, 'events'].map(name => this.#key(name))
    return Number(await this.#client['eval'](DISCARD, keys.length, ...keys, jobId)) === 1
  }

  newWorker(run: JobProcessor, settings: WorkerSettings): QueueWorker {
    const connection = this.#connect(FOR_WORK)
    this.#toDisconnect.push(connection)
    const blocking = trackDuplicates(connection)
    const worker = new Worker(this.#name, run, { ...settings, ...this.#shared, connection })
    const close = worker.close.bind(worker)
    return Object.assign(worker, {
      // While Redis is gone, BullMQ's close waits for the connection that blocks for jobs.
      close: () => {
        for (const one of blocking) if (one['status'] === 'reconnecting') disconnect(one)
        return close()
      },
      resetCrashCount: async (jobId: string) => connection['hdel'](this.#key(jobId), 'stc'),
    })
  }

  async notices(): Promise<readonly StoreNotice[]> {
    return redisNotices(String(await this.#client['info']()))
  }

  async disconnect(): Promise<void> {
    for (const one of this.#toDisconnect) disconnect(one)
  }

  #key(name: string): string {
    return this.queue.toKey(name)
  }
}

/** The connections that BullMQ makes from this one, to block on while it waits for jobs. */
function trackDuplicates(connection: RedisConnectionClient): readonly RedisConnectionClient[] {
  const copies: RedisConnectionClient[] = []
  const duplicate = connection.duplicate.bind(connection)
  connection.duplicate = (...overrides) => {
    const copy = ignoreErrors(duplicate(...overrides))
    copies.push(copy)
    return copy
  }
  return copies
}
