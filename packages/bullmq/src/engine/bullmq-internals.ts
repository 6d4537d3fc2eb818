import { ConfigurationError } from '@ackhook/core'
import { type Moment, momentNow } from '@ackhook/core/spi'
import type { IQueueBackend, PostgresConnection, PostgresQueueBackend } from 'bullmq'
import type { EventJob } from './event-job.ts'

/**
 * What this package changes in BullMQ. The calls of a backend are published: their types are BullMQ's own. What BullMQ
 * does not publish is listed here and nowhere else, each member with its number of parameters, and is checked when an
 * engine opens: a BullMQ that has changed one is refused, since a lease would silently depend on what it does now.
 */

/** Number of parameters of each member, without those that have a default. */
type Members = Readonly<Record<string, number>>

export interface RedisBackend {
  /** Runs each of BullMQ's scripts. */
  execCommand(client: unknown, command: string, args: unknown[]): Promise<unknown>
}
const REDIS: Members = { execCommand: 3 }

/** BullMQ's script that ends a job, its arguments, and where they begin behind its keys. */
const FINISH = { command: 'moveToFinished', keys: 14, values: 9 }

/** Where the arguments of a script have the time of a failure, and whether it fetches the next job; `undefined` if it records none. */
export function failureOf(
  command: string,
  args: readonly unknown[],
): { readonly timeAt: number; readonly fetchNextAt: number } | undefined {
  if (command !== FINISH.command) return undefined
  const target = args[FINISH.keys + 4]
  const isKnown =
    args.length === FINISH.keys + FINISH.values && (target === 'failed' || target === 'completed')
  if (!isKnown) throw changed('the backend for Redis', FINISH.command)
  return target === 'failed' ? { timeAt: FINISH.keys + 1, fetchNextAt: FINISH.keys + 5 } : undefined
}

export interface PostgresBackend extends Pick<PostgresQueueBackend, 'waitForJob'> {
  /** Runs each of BullMQ's commands, which are files of SQL. */
  run(command: string, params: readonly unknown[]): Promise<unknown>
  /** Runs each of BullMQ's operations. Each is a single statement. */
  query(query: unknown, params?: readonly unknown[]): Promise<unknown>
  readonly connection: Pick<PostgresConnection, 'waitUntilReady' | 'isClosing'> & ListeningConnection
}
const POSTGRES: Members = { run: 2, query: 2 }

interface ListeningConnection {
  /** Returns the connection on which BullMQ listens for new jobs. The first call makes it. */
  getListenClient(): Promise<ListenClient>
}
const LISTENING: Members = { getListenClient: 0, handleListenClientError: 2 }

/** The part of a `pg` client of a pool that BullMQ and this package use to listen for new jobs. */
export interface ListenClient {
  on(event: string, listener: (...args: never[]) => void): this
  emit(event: string, ...args: unknown[]): boolean
  removeAllListeners(event?: string): this
  query(...query: unknown[]): Promise<unknown>
  release(failure?: unknown): void
  readonly connection?: { readonly stream?: { destroy(): unknown } }
}

/** A worker's loop, which sleeps until one of its jobs ends. */
export interface JobLoop {
  numTotal(): number
  add(job: Promise<void>): void
}
const LOOP: Members = { numTotal: 0, add: 1 }

/** Returns the backend of BullMQ on Redis. Throws {@link ConfigurationError} if this BullMQ has another one. */
export function redisBackend(backend: object): RedisBackend {
  checkMembers('the backend for Redis', backend, REDIS)
  return backend as RedisBackend
}

/** Returns the backend of BullMQ on PostgreSQL. Throws {@link ConfigurationError} if this BullMQ has another one. */
export function postgresBackend(backend: object): PostgresBackend {
  checkMembers('the backend for PostgreSQL', backend, POSTGRES)
  return backend as PostgresBackend
}

/**
 * Guards the connections on which BullMQ listens for new jobs, and reports each. BullMQ
 *
 * - hears an error of one only after it has awaited `connect()`. One that has failed before, `failureOf` knows, is
 *   reported again: BullMQ would keep it forever.
 * - queries one that is still busy, which `pg` 9 refuses: here, one query follows the other.
 * - removes all listeners, even the pool's, before it gives one up: an error that arrives while it ends is ignored.
 */
export function guardListenClients(
  connection: ListeningConnection,
  failureOf: (client: ListenClient) => Error | undefined,
  onListening: (client: ListenClient) => void,
): void {
  checkMembers('the connection to PostgreSQL', connection, LISTENING)
  const getListenClient = connection.getListenClient.bind(connection)
  const guarded = new WeakSet<ListenClient>()
  connection.getListenClient = async () => {
    const client = await getListenClient()
    const failure = failureOf(client)
    if (failure !== undefined) {
      client.emit('error', failure)
      throw failure
    }
    if (guarded.has(client)) return client
    guarded.add(client)
    client.query = oneAtATime(client.query.bind(client))
    client.release = ignoringErrors(client)
    onListening(client)
    return client
  }
}

function oneAtATime(query: ListenClient['query']): ListenClient['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (...args) => {
    const answer = last.then(() => query(...args))
    last = answer.catch(() => {})
    return answer
  }
}

function ignoringErrors(client: ListenClient): ListenClient['release'] {
  const release = client.release.bind(client)
  return failure => {
    release(failure)
    client.removeAllListeners('error').on('error', () => {})
  }
}

/** Checks that the loop of this worker can be woken. */
export function checkLoop(worker: object): void {
  if (!('mainLoopQueue' in worker)) throw changed('Worker', 'mainLoopQueue')
}

/** Wakes a worker's loop, which would sleep until one of its own jobs ends. BullMQ's `resume` wakes it the same way. */
export function wakeLoop(worker: object, ifItHas: number): void {
  const { mainLoopQueue: loop } = worker as { readonly mainLoopQueue: JobLoop | null }
  if (loop === null) return
  checkMembers("Worker's loop", loop, LOOP)
  if (loop.numTotal() >= ifItHas) loop.add(Promise.resolve())
}

/** Sets the longest time in seconds for which a worker waits for a delayed job. Both backends have a getter for it. */
export function limitBlocking(backend: Pick<IQueueBackend, 'maximumBlockTimeout'>, seconds: number): void {
  Object.defineProperty(backend, 'maximumBlockTimeout', { get: () => seconds })
}

/** A backend's calls that may take a job. */
type Take = 'moveToActive' | 'moveToCompleted' | 'moveToFailed' | 'moveToDelayed'

/** The worker's token among their arguments. */
const TOKEN_OF: {
  readonly [Name in Take]: (...args: Parameters<IQueueBackend[Name]>) => string | undefined
} = {
  moveToActive: token => token,
  moveToCompleted: (_job, _value, _remove, token) => token,
  moveToFailed: (_job, _reason, _remove, token) => token,
  moveToDelayed: (_jobId, _at, _delay, token) => token,
}

interface TakingWorker {
  on(event: 'active', listener: (job: EventJob) => void): unknown
}

/** A take of unknown age is renewed before anything begins. */
const LONG_AGO: Moment = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }

/** Listener of {@link reportTakes}. */
export type OnTake = (job: EventJob, sentAt: Moment) => void

/**
 * Reports each job that the worker takes, when the server's reply is read, and when the request that took it was sent.
 * BullMQ's own event for it has no such time.
 */
export function reportTakes(worker: TakingWorker, backend: Pick<IQueueBackend, Take>, onTake: OnTake): void {
  const sentAt = new Map<string, Moment>()
  for (const [name, tokenOf] of Object.entries(TOKEN_OF)) {
    const calls = backend as unknown as Record<string, (...args: never[]) => Promise<unknown>>
    const call = calls[name]!.bind(backend)
    calls[name] = async (...args) => {
      const token = String((tokenOf as (...args: never[]) => string | undefined)(...args))
      sentAt.set(token, momentNow())
      let hasTaken = false
      try {
        const reply = await call(...args)
        hasTaken = hasJob(reply)
        return reply
      } finally {
        if (!hasTaken) sentAt.delete(token)
      }
    }
  }
  worker.on('active', job => {
    const token = String(job.token)
    const sent = sentAt.get(token) ?? LONG_AGO
    sentAt.delete(token)
    onTake(job, sent)
  })
}

/** A reply is the next job and its id, or has them as its result. */
function hasJob(reply: unknown): boolean {
  const next: unknown = Array.isArray(reply) ? reply : Object(reply).result
  return Array.isArray(next) && Boolean(next[0])
}

function checkMembers(owner: string, object: object, members: Members): void {
  for (const [name, parameters] of Object.entries(members)) {
    const member: unknown = (object as Record<string, unknown>)[name]
    if (typeof member !== 'function' || member.length !== parameters) throw changed(owner, name)
  }
}

/** The error that refuses a BullMQ which has changed a member. */
export function changed(owner: string, member: string): ConfigurationError {
  return new ConfigurationError(
    'connection',
    `this bullmq has changed ${member} of ${owner}, on which leases depend: install a bullmq that @ackhook/bullmq supports (npm install bullmq@~6.7)`,
  )
}
