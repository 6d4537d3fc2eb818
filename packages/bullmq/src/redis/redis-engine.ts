import { randomUUID } from 'node:crypto'
import { describeError, type StoreNotice } from '@ackhook/core/spi'
import { Queue, type QueueOptions, type RedisConnectionClient, type RedisOptions, Worker } from 'bullmq'
import { limitBlocking, redisBackend } from '../engine/bullmq-internals.ts'
import type {
  Bite,
  Engine,
  EngineSettings,
  KnownJob,
  QueueCounts,
  QueueWorker,
  Relocked,
  RememberedTimes,
  WorkerSettings,
} from '../engine/engine.ts'
import { type EventBoard, NAMED_MS } from '../engine/event-board.ts'
import type { EventJob, EventQueue, JobData, NewJob } from '../engine/event-job.ts'
import { fetching } from '../engine/fetching.ts'
import { storedQueue } from '../engine/form.ts'
import type { FoundJob, JobQuery, ListedJob } from '../engine/job-list.ts'
import { type LeaseLimits, workerOptionsOf } from '../engine/lease-limits.ts'
import type { LockToken } from '../engine/lock-token.ts'
import { PAUSE_FIELD, PauseSwitch, type QueuePause } from '../engine/queue-pause.ts'
import { firstCause } from '../engine/reaching.ts'
import { ConnectionReason } from './connection-reason.ts'
import { type Connect, connector, disconnect, FOR_DELIVERIES, forWork, ignoreErrors } from './connections.ts'
import { redisEmptied, redisNotices } from './notices.ts'
import { parsableJobs } from './parsable-jobs.ts'
import { RedisBoard } from './redis-board.ts'
import { RedisJobList } from './redis-job-list.ts'
import { refuseEarlier } from './refuse-earlier.ts'
import { scanJobs } from './scan-jobs.ts'
import {
  DISCARD,
  DISCARD_OLDER,
  ERASE,
  EXTEND_LOCKS,
  FORGET,
  LOCKED_WITH,
  LOOK_UP,
  MAKE_NEXT_DUE,
  MARK,
  PAUSE,
  PRUNE,
  READ_CLOCK,
  READ_COUNTS,
  RECORD_BEGIN,
  RELOCK,
  REMEMBERED,
  REQUEUE,
  RESET_CRASH_COUNT,
} from './scripts.ts'
import { stampFailures } from './stamp-failures.ts'

/** Bytes of data in one round of pruning, so that large bodies do not make it slow. */
const MAX_BITE_BYTES = 4_000_000
/** Jobs of each unfinished state that are read to find the oldest. */
const SAMPLE = 20

/** Keys of a queue. A queue that was used has at least one of them. */
const USED = ['ackhook-processes', 'wait', 'active', 'delayed', 'prioritized', 'failed', 'completed']

/** Prefix of the key under which an unreadable job is found. */
const NAME = 'ackhook-unreadable:'

/** A wrong or missing password, or a user that is disabled. */
const REFUSED = /^(?:NOAUTH|WRONGPASS) /

export async function createRedisEngine(
  settings: EngineSettings,
  connection: string | RedisOptions | RedisConnectionClient,
): Promise<Engine> {
  return new RedisEngine(settings, await connector(connection))
}

class RedisEngine implements Engine {
  readonly name: string
  readonly #inbox: string
  readonly #queue: EventQueue
  readonly board: EventBoard
  readonly refused: Promise<never>
  readonly traced: boolean
  /** Identifies this process when processes take turns at pruning. */
  readonly #id = randomUUID()
  /** Options shared by the queue and the worker. */
  readonly #shared: Omit<QueueOptions, 'connection'>
  readonly #connect: Connect
  /** For deliveries and queries. */
  readonly #client: RedisConnectionClient
  readonly #jobList: RedisJobList
  readonly #reason: ConnectionReason
  readonly #pause: PauseSwitch
  readonly #toDisconnect: RedisConnectionClient[] = []
  /** A mark that exists as long as the queue's data. */
  #mark: string | undefined

  constructor({ queue: inbox, prefix, telemetry, create }: EngineSettings, connect: Connect) {
    const queue = storedQueue(inbox)
    this.name = queue
    this.#inbox = inbox
    this.#shared = { ...(prefix !== undefined && { prefix }), ...(telemetry && { telemetry }) }
    this.traced = telemetry !== undefined
    this.#connect = connect
    this.#client = connect(FOR_DELIVERIES)
    this.#toDisconnect.push(this.#client)
    this.#reason = new ConnectionReason(this.#client)
    this.refused = refusalOf(this.#client, this.#reason, create)
    this.#queue = new Queue<JobData, unknown, string>(queue, {
      ...this.#shared,
      connection: this.#client,
      skipMetasUpdate: !create,
    })
    // The failed call rejects by itself. Without a listener, BullMQ would also print the error.
    this.#queue.on('error', () => {})
    const keyOf = (name: string) => this.#key(name)
    this.board = new RedisBoard(this.#client, keyOf)
    this.#jobList = new RedisJobList(this.#client, keyOf)
    const meta = keyOf('meta')
    this.#pause = new PauseSwitch(this.#queue, {
      read: () => this.#client['hmget'](meta, 'paused', PAUSE_FIELD),
      pause: async now => {
        const keys = ['meta', 'marker', 'events'].map(keyOf)
        return Number(await this.#client['eval'](PAUSE, keys.length, ...keys, now)) === 1
      },
      add: record => this.#client['hsetnx'](meta, PAUSE_FIELD, record),
      forget: () => this.#client['hdel'](meta, PAUSE_FIELD),
    })
  }

  reasonOf(error: unknown): unknown {
    return firstCause(this.#reason.of(error))
  }

  ready(): Promise<unknown> {
    return this.#queue.waitUntilReady()
  }

  async exists(): Promise<boolean> {
    // BullMQ writes its version when it opens a queue, and ignores a failure to do so.
    if ((await this.#queue.getVersion()) !== null) return true
    return Number(await this.#client['exists'](...USED.map(name => this.#key(name)))) > 0
  }

  refuseEarlier(): Promise<void> {
    return refuseEarlier(this.#client, this.#shared.prefix ?? 'bull', this.#inbox)
  }

  async prepare(): Promise<void> {}

  add(jobs: readonly NewJob[]): readonly Promise<boolean>[] {
    // Redis replies to the lookup first, since it shares a connection with the adds. One lookup for all jobs, then
    // single adds. perf: note 26.
    const known = this.#client['exists'](...jobs.map(({ opts }) => this.#key(opts.jobId)))
    return jobs.map(async ({ name, data, opts }) => {
      const [anyKnown] = await Promise.all([known, this.#queue.add(name, data, opts)])
      return anyKnown === 0
    })
  }

  async lookUp(jobIds: readonly string[]): Promise<ReadonlyMap<string, KnownJob>> {
    const keys = [this.#key('failed'), ...jobIds.map(id => this.#key(id))]
    const found = (await this.#client['eval'](LOOK_UP, keys.length, ...keys, ...jobIds)) as [
      string | null,
      string | null,
      number,
      number,
    ][]
    const known = new Map<string, KnownJob>()
    for (const [i, [token, fingerprint, dead, exists]] of found.entries()) {
      const isKnown = exists === 1 || dead === 1
      if (!isKnown) continue
      const remembered = token === null ? {} : { token, fingerprint: Number(fingerprint) }
      known.set(jobIds[i]!, { ...remembered, dead: dead === 1 })
    }
    return known
  }

  async countUnfinished(): Promise<number> {
    const counts = await this.#queue.getJobCounts('wait', 'delayed', 'prioritized', 'active')
    return Object.values(counts).reduce((sum, n) => sum + n, 0)
  }

  async readCounts(): Promise<QueueCounts> {
    const keys = ['wait', 'paused', 'delayed', 'prioritized', 'active', 'failed'].map(name => this.#key(name))
    const asked = this.#client['eval'](READ_COUNTS, keys.length, ...keys, this.#key(''), SAMPLE)
    const [counts, paused] = await Promise.all([asked, this.#queue.isPaused()])
    const [pending, active, dead, sampled, failure, retrying, untried] = counts as [
      number,
      number,
      number,
      string[],
      string | null,
      number,
      string[],
    ]
    const earliest = (times: string[]) => (times.length === 0 ? undefined : Math.min(...times.map(Number)))
    return {
      pending,
      active,
      dead,
      retrying,
      oldestAt: earliest(sampled),
      untriedAt: paused ? undefined : earliest(untried),
      waitingError: failure ?? undefined,
      ...(paused && { paused }),
    }
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

  requeueMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return changedOf(jobIds, jobId => this.requeue(jobId))
  }

  discardMany(jobIds: readonly string[]): Promise<readonly string[]> {
    return changedOf(jobIds, async jobId => {
      const keys = ['failed', jobId, `${jobId}:logs`, 'events'].map(name => this.#key(name))
      return Number(await this.#client['eval'](DISCARD, keys.length, ...keys, jobId)) === 1
    })
  }

  scan(): AsyncIterable<readonly string[]> {
    return scanJobs(this.#client, name => this.#key(name))
  }

  async eraseWaiting(jobId: string): Promise<boolean> {
    const lists = ['wait', 'paused', 'delayed', 'prioritized']
    const keys = [...lists, jobId, `${jobId}:logs`, 'events'].map(name => this.#key(name))
    return Number(await this.#client['eval'](ERASE, keys.length, ...keys, jobId)) === 1
  }

  async now(): Promise<number> {
    return Number(await this.#client['eval'](READ_CLOCK, 1, this.#key('meta')))
  }

  async discardOlder(failedBefore: number, limit: number): Promise<number> {
    const keys = ['failed', 'events'].map(name => this.#key(name))
    return Number(await this.#client['eval'](DISCARD_OLDER, 2, ...keys, this.#key(''), failedBefore, limit))
  }

  async forget(jobId: string): Promise<boolean> {
    const keys = ['completed', jobId, `${jobId}:logs`].map(name => this.#key(name))
    return Number(await this.#client['eval'](FORGET, keys.length, ...keys, jobId)) === 1
  }

  async newestWaiting(limit: number): Promise<readonly string[]> {
    return await this.#client['lrange'](this.#key('wait'), 0, limit - 1)
  }

  list(query: JobQuery): Promise<readonly ListedJob[]> {
    return this.#jobList.list(query)
  }

  find(jobId: string): Promise<FoundJob | undefined> {
    return this.#jobList.find(jobId)
  }

  async remembered(jobId: string): Promise<RememberedTimes | undefined> {
    const found = (await this.#client['eval'](REMEMBERED, 1, this.#key(jobId))) as [string, number] | null
    if (found === null) return undefined
    const [at, leftMs] = found
    return { rememberedUntil: Date.now() + Number(leftMs), handledAt: Number(at) }
  }

  nameJobs(names: ReadonlyMap<string, string>): Promise<unknown> {
    const set = ([key, jobId]: [string, string]) =>
      this.#client['set'](this.#key(NAME + key), jobId, 'PX', NAMED_MS)
    return Promise.all([...names].map(set))
  }

  async findName(key: string): Promise<string | undefined> {
    return (await this.#client['get'](this.#key(NAME + key))) ?? undefined
  }

  async prune({ wholeMs, limit, isUrgent }: Bite): Promise<boolean> {
    const keys = [this.#key('completed'), this.#key('ackhook-pruning')]
    const args = [this.#key(''), wholeMs, limit, MAX_BITE_BYTES, this.#id, Number(isUrgent)]
    return Number(await this.#client['eval'](PRUNE, 2, ...keys, ...args)) === limit
  }

  isFull(error: unknown): boolean {
    // Scripts can fail this way too, with a prefix from Redis.
    return /(?:^|[: -])OOM command not allowed/.test(describeError(error))
  }

  newWorker({ limits, ...settings }: WorkerSettings): QueueWorker {
    const connection = this.#connect(forWork(limits))
    this.#toDisconnect.push(connection)
    const blocking = trackDuplicates(connection, limits)
    const options = { ...settings, ...workerOptionsOf(limits), ...this.#shared, connection }
    const worker = new Worker<JobData, unknown, string>(this.name, null, options)
    const backend = worker.getBackend()
    limitBlocking(backend, limits.blockMs / 1000)
    parsableJobs(redisBackend(backend))
    stampFailures(redisBackend(backend), async () =>
      Number(await connection['eval'](READ_CLOCK, 1, this.#key('meta'))),
    )
    const close = worker.close.bind(worker)
    worker.on('error', error => {
      if (!this.isFull(error)) return
      const keys = [this.#key('wait'), this.#key('delayed')]
      connection['eval'](MAKE_NEXT_DUE, 2, ...keys, Date.now()).catch(() => {})
    })
    return Object.assign(worker, fetching(worker, backend), {
      // BullMQ's close would wait for the blocking connection while Redis is unreachable.
      close: () => {
        for (const one of blocking) {
          // BullMQ reconnects an empty cluster before it blocks, even one that its own close has just emptied.
          one['connect'] = connectNoMore
          if (one['status'] === 'reconnecting') disconnect(one)
        }
        return close()
      },
      extendJobLocks: async (jobIds: string[], tokens: LockToken[], lockMs: number) => {
        const pairs = jobIds.flatMap((id, i) => [id, tokens[i]!])
        const args = [this.#key('stalled'), this.#key(''), lockMs, ...pairs]
        return (await connection['eval'](EXTEND_LOCKS, 1, ...args)) as string[]
      },
      relock: async (job: EventJob, token: LockToken, lockMs: number) => {
        const { attemptsStarted, processedOn = '', attemptsMade, stalledCounter } = job
        const keys = [job.id!, `${job.id!}:lock`, 'active', 'wait'].map(name => this.#key(name))
        const args = [job.id!, token, lockMs, attemptsStarted, processedOn, attemptsMade, stalledCounter]
        return (await connection['eval'](RELOCK, keys.length, ...keys, ...args)) as Relocked
      },
      recordBegin: async (jobId: string, token: LockToken, progress: string, lockMs: number) => {
        const keys = [jobId, `${jobId}:lock`].map(name => this.#key(name))
        return Number(await connection['eval'](RECORD_BEGIN, 2, ...keys, token, progress, lockMs)) === 1
      },
      resetCrashCount: async (jobId: string) => connection['eval'](RESET_CRASH_COUNT, 1, this.#key(jobId)),
      release: async (token: LockToken) => {
        const jobId = await connection['eval'](LOCKED_WITH, 1, this.#key('active'), this.#key(''), token)
        const job = jobId === null ? undefined : await this.#queue.getJob(String(jobId))
        await job?.moveToWait(token)
      },
    })
  }

  pause(): Promise<boolean> {
    return this.#pause.pause()
  }

  resume(): Promise<boolean> {
    return this.#pause.resume()
  }

  paused(): Promise<QueuePause | undefined> {
    return this.#pause.paused()
  }

  async notices(): Promise<readonly StoreNotice[]> {
    const sentAt = Date.now()
    const info = String(await this.#client['info']())
    const asked = { sentAt, answeredAt: Date.now() }
    return [...redisNotices(info, asked), ...(await this.#emptied())]
  }

  /** Returns a notice if Redis has lost the queue's data since the last call. */
  async #emptied(): Promise<readonly StoreNotice[]> {
    const asked = this.#client['eval'](MARK, 1, this.#key('ackhook-mark'), randomUUID())
    // A tool may have read-only access.
    const found: unknown = await asked.catch(() => undefined)
    if (typeof found !== 'string') return []
    const before = this.#mark
    this.#mark = found
    return before === undefined || before === found ? [] : [redisEmptied(this.name)]
  }

  close(): Promise<unknown> {
    return this.#queue.close()
  }

  async disconnect(): Promise<void> {
    for (const one of this.#toDisconnect) disconnect(one)
  }

  #key(name: string): string {
    return this.#queue.toKey(name)
  }
}

/**
 * Rejects if the server refuses the client for good. A tool, which creates nothing, does not wait for a server: the first
 * failed attempt to connect is its answer.
 */
function refusalOf(client: RedisConnectionClient, reason: ConnectionReason, create: boolean): Promise<never> {
  const refused = new Promise<never>((_, reject) => {
    const giveUp = () => reject(reason.of(new Error('Connection is closed.')))
    client.on?.('error', (error: Error) => {
      if (REFUSED.test(error.message)) reject(error)
      else if (!create) giveUp()
    })
    if (!create) client.on?.('close', giveUp)
  })
  // Only a start and an opening wait for this.
  refused.catch(() => {})
  return refused
}

/** Changes each job in its own step, without waiting for the previous one: the server handles deliveries in between. */
async function changedOf(
  jobIds: readonly string[],
  change: (jobId: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const changed = await Promise.all(jobIds.map(change))
  return jobIds.filter((_, i) => changed[i])
}

async function connectNoMore(): Promise<never> {
  throw new Error('Connection is closed.')
}

/**
 * Collects the connections that BullMQ duplicates from this one, to block on while it waits for jobs. They may be silent
 * for that long in addition.
 */
function trackDuplicates(
  connection: RedisConnectionClient,
  { silenceMs, blockMs }: LeaseLimits,
): readonly RedisConnectionClient[] {
  const copies: RedisConnectionClient[] = []
  const duplicate = connection.duplicate.bind(connection)
  connection.duplicate = (...overrides) => {
    const copy = ignoreErrors(duplicate(...overrides))
    // A cluster has these options for each of its connections.
    const options = copy['options'].redisOptions ?? copy['options']
    options.socketTimeout = silenceMs + blockMs
    copies.push(copy)
    return copy
  }
  return copies
}
