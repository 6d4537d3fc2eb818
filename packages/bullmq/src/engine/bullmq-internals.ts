import { ConfigurationError } from '@ackhook/core'
import { type Moment, momentNow } from '@ackhook/core/spi'
import type { IQueueBackend, PostgresConnection, PostgresQueueBackend } from 'bullmq'

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

/** Where the arguments of a script have the time of a failure. `undefined` if it records none. */
export function failureTimeAt(command: string, args: readonly unknown[]): number | undefined {
  if (command !== FINISH.command) return undefined
  const target = args[FINISH.keys + 4]
  const isKnown =
    args.length === FINISH.keys + FINISH.values && (target === 'failed' || target === 'completed')
  if (!isKnown) throw changed('the backend for Redis', FINISH.command)
  return target === 'failed' ? FINISH.keys + 1 : undefined
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

/** What a worker's requests for a job tell, one after the other. */
export interface TakeRequests {
  /** Whether none is sent any more: the worker finds no job. */
  isStopped: boolean
  /** When the last one was sent. `undefined` since the worker was asked for another job. */
  sentAt: Moment | undefined
  /** Time for which the server hands out no job, by its last reply. */
  limitedMs: number
}
/** Takes the next job. Both backends reply with its fields, its id, the time left of a rate limit, and when to ask again. */
const TAKING: Members = { moveToActive: 2 }

/**
 * Watches the requests for a job that a worker sends. The worker does not hear of a rate limit: it would wait for its end by
 * the wall clock, which may be set back meanwhile.
 */
export function watchTakes(backend: Pick<IQueueBackend, 'moveToActive'>, requests: TakeRequests): void {
  checkMembers('the backend', backend, TAKING)
  const moveToActive = backend.moveToActive.bind(backend)
  backend.moveToActive = async (token, name) => {
    if (requests.isStopped) return []
    requests.sentAt = momentNow()
    const [data, id, limitedMs = 0, askAt] = await moveToActive(token, name)
    requests.limitedMs = limitedMs
    return [data, id, 0, askAt]
  }
}

/** Sets the longest time in seconds for which a worker waits for a delayed job. Both backends have a getter for it. */
export function limitBlocking(backend: Pick<IQueueBackend, 'maximumBlockTimeout'>, seconds: number): void {
  Object.defineProperty(backend, 'maximumBlockTimeout', { get: () => seconds })
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
