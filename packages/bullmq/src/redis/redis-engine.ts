import { Queue, type RedisConnectionClient, type RedisOptions, Worker } from 'bullmq'
import type { Engine, KnownJob } from '../create-engine.ts'
import type { JobData } from '../engine/event-job.ts'
import type { ResolvedOptions } from '../options.ts'
import { connector, end, FOR_DELIVERIES, FOR_WORK, silent } from './connections.ts'
import { redisNotices } from './notices.ts'
import { DISCARD, LOOK, REARM } from './scripts.ts'

export async function createRedisEngine(
  options: ResolvedOptions,
  connection: string | RedisOptions | RedisConnectionClient,
): Promise<Engine> {
  const connect = await connector(connection)
  const shared = {
    ...(options.prefix !== undefined && { prefix: options.prefix }),
    ...(options.telemetry && { telemetry: options.telemetry }),
  }
  const clients = [connect(FOR_DELIVERIES)]
  const [client] = clients as [RedisConnectionClient]
  const queue = new Queue<JobData, unknown, string>(options.queue, { ...shared, connection: client })
  return {
    queue,
    traced: options.telemetry !== undefined,
    add(jobs) {
      // One connection: Redis answers this before it adds anything. One question for all of them, because it
      // costs half as much as an add; BullMQ's addBulk would cost more than the adds.
      const known = client['exists'](...jobs.map(({ opts }) => queue.toKey(opts.jobId)))
      return jobs.map(async ({ name, data, opts }) => {
        const [anyKnown] = await Promise.all([known, queue.add(name, data, opts)])
        return anyKnown === 0
      })
    },
    async look(jobIds) {
      const keys = [queue.toKey('failed'), ...jobIds.map(id => queue.toKey(id))]
      const found = (await client['eval'](LOOK, keys.length, ...keys, ...jobIds)) as [string | null, number][]
      const known = new Map<string, KnownJob>()
      for (const [i, [data, dead]] of found.entries()) {
        if (data === null) continue
        const { fingerprint, token } = JSON.parse(data) as JobData
        known.set(jobIds[i]!, { fingerprint, token, dead: dead === 1 })
      }
      return known
    },
    async countHeld() {
      const counts = await queue.getJobCounts('wait', 'delayed', 'prioritized', 'active')
      return Object.values(counts).reduce((sum, n) => sum + n, 0)
    },
    async rearm(jobId, again) {
      const keys = [queue.toKey('failed'), queue.toKey(jobId)]
      for (const name of ['wait', 'marker', 'events']) keys.push(queue.toKey(name))
      const args = [jobId, Date.now(), ...(again ? [again.name, JSON.stringify(again.data)] : [])]
      return Number(await client['eval'](REARM, keys.length, ...keys, ...args)) === 1
    },
    async discard(jobId) {
      const job = queue.toKey(jobId)
      const keys = [queue.toKey('failed'), job, `${job}:logs`, queue.toKey('events')]
      return Number(await client['eval'](DISCARD, keys.length, ...keys, jobId)) === 1
    },
    newWorker(process, settings) {
      const own = connect(FOR_WORK)
      clients.push(own)
      const blocking: RedisConnectionClient[] = []
      const duplicate = own.duplicate.bind(own)
      own.duplicate = (...overrides) => {
        const copy = silent(duplicate(...overrides))
        blocking.push(copy)
        return copy
      }
      const worker = new Worker(options.queue, process, { ...settings, ...shared, connection: own })
      return Object.assign(worker, {
        close: closer(worker, blocking),
        resetCrashCount: async (jobId: string) => own['hdel'](queue.toKey(jobId), 'stc'),
      })
    },
    notices: async () => redisNotices(String(await client['info']())),
    async disconnect() {
      for (const one of clients) end(one)
    },
  }
}

/** While Redis is gone BullMQ's close waits for the end of the connection that waits for jobs. */
function closer(worker: Worker, blocking: readonly RedisConnectionClient[]): () => Promise<void> {
  const close = worker.close.bind(worker)
  return () => {
    for (const one of blocking) if (one['status'] === 'reconnecting') end(one)
    return close()
  }
}
