import { ConfigurationError } from '@ackhook/core'
import { Queue, type RedisConnectionClient, type RedisOptions, Worker } from 'bullmq'
import { DISCARD } from './discard-script.ts'
import type { Engine, KnownJob } from './engine.ts'
import type { JobData } from './event-job.ts'
import { LOOK } from './look-script.ts'
import type { ResolvedOptions } from './options.ts'
import { REARM } from './rearm-script.ts'
import { redisNotices } from './redis-notices.ts'

type Overrides = Readonly<Record<string, unknown>>
/** As ioredis has it: 1 for a new connection, 2 also for the command once more on it. */
type Reconnect = boolean | 1 | 2

/** Never give up on the server, whatever the user's own client does. */
const ALWAYS = {
  lazyConnect: false,
  retryStrategy: (times: number): number => Math.min(times * 100, 2000),
  // BullMQ and this package count with what Redis counts.
  stringNumbers: false,
}
/** A delivery must fail at once when the server is gone: the sender repeats it, so nothing is kept back here. */
const FOR_DELIVERIES = {
  ...ALWAYS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: reconnectOn('fail'),
  // A connection that the network has forgotten says nothing, for ever: deliveries have given up on it by then.
  socketTimeout: 3000,
}
/** The worker waits for its server for ever, and for jobs longer than any time limit on a command. */
const FOR_WORK = {
  ...ALWAYS,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  reconnectOnError: reconnectOn('repeat'),
  // BullMQ waits for a job for 10 s at most.
  socketTimeout: 15_000,
}

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
      const args = again ? [jobId, again.name, JSON.stringify(again.data)] : [jobId]
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
        forgiveStalls: async (jobId: string) => own['hdel'](queue.toKey(jobId), 'stc'),
      })
    },
    notices: async () => redisNotices(String(await client['info']())),
    async disconnect() {
      for (const one of clients) end(one)
    },
  }
}

/**
 * After a failover behind one address the open connections still lead to the old master, which answers READONLY, or
 * UNBLOCKED to who waits for a job. A new connection leads to the new one.
 */
function reconnectOn(then: 'fail' | 'repeat'): (error: Error) => Reconnect {
  return ({ message }) => (/READONLY|^UNBLOCKED/.test(message) ? (then === 'repeat' ? 2 : 1) : false)
}

/** The user's own reasons to reconnect stay in force. */
function withReasonsOf(connection: RedisOptions | RedisConnectionClient, overrides: Overrides): Overrides {
  const { reconnectOnError: theirs } = connection['options'] ?? connection
  const { reconnectOnError: ours } = overrides
  if (typeof theirs !== 'function' || typeof ours !== 'function') return overrides
  return { ...overrides, reconnectOnError: (error: Error): Reconnect => ours(error) || theirs(error) }
}

/** While Redis is gone BullMQ's close waits for the end of the connection that waits for jobs. */
function closer(worker: Worker, blocking: readonly RedisConnectionClient[]): () => Promise<void> {
  const close = worker.close.bind(worker)
  return () => {
    for (const one of blocking) if (one['status'] === 'reconnecting') end(one)
    return close()
  }
}

/** Between two attempts to connect, ioredis' disconnect() tells nobody and leaves its commands pending. */
function end(client: RedisConnectionClient): void {
  if (client['status'] === 'reconnecting') client['status'] = 'wait'
  client.disconnect?.()
}

/** Makes connections of our own, like the user's but for what we depend on. */
async function connector(
  connection: string | RedisOptions | RedisConnectionClient,
): Promise<(overrides: Overrides) => RedisConnectionClient> {
  if (isClient(connection)) {
    return overrides =>
      silent(
        connection.isCluster
          ? ofCluster(connection, overrides)
          : connection.duplicate(withReasonsOf(connection, overrides)),
      )
  }
  const { Redis } = await import('ioredis').catch(cause => {
    throw new ConfigurationError('connection', "needs the package 'ioredis': npm install ioredis", { cause })
  })
  return overrides =>
    silent(
      typeof connection === 'string'
        ? new Redis(connection, { ...overrides })
        : new Redis({ ...connection, ...withReasonsOf(connection, overrides) }),
    )
}

function ofCluster(cluster: RedisConnectionClient, overrides: Overrides): RedisConnectionClient {
  // A cluster knows its masters by itself.
  const { retryStrategy, reconnectOnError, ...redisOptions } = overrides
  return cluster.duplicate([], {
    clusterRetryStrategy: retryStrategy,
    lazyConnect: false,
    enableOfflineQueue: overrides['enableOfflineQueue'],
    redisOptions: { ...cluster['options'].redisOptions, ...redisOptions },
  })
}

/** BullMQ tells of errors while it listens; one that comes before or after must not end the process. */
function silent(client: RedisConnectionClient): RedisConnectionClient {
  client.on?.('error', () => {})
  return client
}

function isClient(
  connection: string | RedisOptions | RedisConnectionClient,
): connection is RedisConnectionClient {
  return typeof connection === 'object' && typeof connection['duplicate'] === 'function'
}
