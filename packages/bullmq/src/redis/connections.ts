import type { Socket } from 'node:net'
import { ConfigurationError } from '@ackhook/core'
import type { RedisConnectionClient, RedisOptions } from 'bullmq'
import type { LeaseLimits } from '../engine/lease-limits.ts'

type Overrides = Readonly<Record<string, unknown>>
/** Opens this package's own connection: like the user's, except for the settings that it depends on. */
export type Connect = (overrides: Overrides) => RedisConnectionClient
/** ioredis' values: 1 for a new connection, 2 to resend the command on it as well. */
type Reconnect = boolean | 1 | 2

/** Never give up on the server, whatever the user's own client does. */
const ALWAYS = {
  lazyConnect: false,
  retryStrategy: (times: number): number => Math.min(times * 100, 1000),
  // An attempt to connect through a path that swallows it is not still waiting when the path is back.
  connectTimeout: 3000,
  // ioredis waits before it retries a server that loads its data, for the server's own estimate, up to 10 s.
  maxLoadingRetryTime: 500,
  // BullMQ and this package calculate with numbers from Redis.
  stringNumbers: false,
}
/** A delivery must fail at once when the server is gone: the sender repeats it, so no command is queued here. */
export const FOR_DELIVERIES: Overrides = {
  ...ALWAYS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: reconnectOn('fail'),
  // A connection that the network has dropped silently never ends by itself. Deliveries give up earlier.
  socketTimeout: 3000,
}
/** The worker waits for its server indefinitely, and longer than any command timeout. */
export function forWork({ silenceMs }: LeaseLimits): Overrides {
  return {
    ...ALWAYS,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
    reconnectOnError: reconnectOn('repeat'),
    socketTimeout: silenceMs,
  }
}

export async function connector(connection: string | RedisOptions | RedisConnectionClient): Promise<Connect> {
  if (isClient(connection)) {
    return overrides =>
      ignoreErrors(
        connection.isCluster
          ? duplicateCluster(connection, overrides)
          : connection.duplicate(withReasonsOf(connection, overrides)),
      )
  }
  const loaded = await import('ioredis').catch(cause => {
    throw new ConfigurationError('connection', "needs the package 'ioredis': npm install ioredis", {
      cause,
      page: 'missing-packages',
    })
  })
  // A bundler that turns packages into CommonJS leaves only the default export. Early releases of ioredis 5 have no more.
  const Redis = loaded.Redis ?? (loaded.default as unknown as { readonly Redis?: typeof loaded.Redis }).Redis
  if (Redis === undefined) {
    throw new ConfigurationError('connection', 'needs ioredis 5.3 or later: npm install ioredis@latest', {
      page: 'missing-packages',
    })
  }
  if (typeof connection === 'string')
    return overrides => ignoreErrors(new Redis(connection, { ...overrides }))
  // `url` is BullMQ's own option. ioredis would ignore it and connect to localhost.
  const { url, ...options } = connection
  return overrides => {
    const ours = { ...options, ...withReasonsOf(connection, overrides) }
    return ignoreErrors(url === undefined ? new Redis(ours) : new Redis(url, ours))
  }
}

/**
 * Disconnects for good. Between two attempts to connect, ioredis' own disconnect() emits nothing and leaves commands
 * pending.
 */
export function disconnect(client: RedisConnectionClient): void {
  if (client['status'] === 'reconnecting') client['status'] = 'wait'
  client.disconnect?.()
}

/** BullMQ handles errors while it listens. An error before or after that must not end the process. */
export function ignoreErrors(client: RedisConnectionClient): RedisConnectionClient {
  client.on?.('error', () => {})
  client.on?.('close', () => clearSocketTimeout(client))
  client.on?.('connecting', () => setImmediate(ignoreLaterErrors, client))
  client.on?.('connect', () => readBeforeTimeout(client['stream']))
  return client
}

/**
 * Handles both errors of a TLS socket that is closed during its handshake: it may emit two, and ioredis listens only to
 * the first (https://github.com/redis/ioredis/pull/962). ioredis creates its socket in the same turn in which it begins
 * to connect.
 */
function ignoreLaterErrors(client: RedisConnectionClient): void {
  client['stream']?.on('error', () => {})
}

/**
 * ioredis 5 leaves the timer of `socketTimeout` running, which would end the next connection or keep the process alive.
 */
function clearSocketTimeout(client: RedisConnectionClient): void {
  clearTimeout(client['socketTimeoutTimer'])
  client['socketTimeoutTimer'] = undefined
}

/**
 * Reads from the network once more before giving up a connection. Replies may arrive, and `socketTimeout` expire, while
 * a handler blocks the event loop, and Node runs the timer first. A cluster itself has no socket.
 */
function readBeforeTimeout(socket: Socket | undefined): void {
  if (socket === undefined) return
  const destroy = socket.destroy.bind(socket)
  socket.destroy = error => {
    if (!error?.message.startsWith('Socket timeout')) return destroy(error)
    const { bytesRead } = socket
    setImmediate(() => socket.bytesRead === bytesRead && destroy(error))
    return socket
  }
}

function isClient(
  connection: string | RedisOptions | RedisConnectionClient,
): connection is RedisConnectionClient {
  return typeof connection === 'object' && typeof connection['duplicate'] === 'function'
}

function duplicateCluster(cluster: RedisConnectionClient, overrides: Overrides): RedisConnectionClient {
  // A cluster finds its masters by itself, and connects to a node only when it has a command for it. A node that is
  // still connecting while the cluster reads its own state makes the cluster start again, for seconds.
  const { retryStrategy, reconnectOnError, ...redisOptions } = overrides
  return cluster.duplicate([], {
    clusterRetryStrategy: retryStrategy,
    // A lagging replica lacks the newest jobs and dead letters.
    scaleReads: 'master',
    lazyConnect: false,
    enableOfflineQueue: overrides['enableOfflineQueue'],
    redisOptions: { ...cluster['options'].redisOptions, ...redisOptions, lazyConnect: true },
  })
}

/**
 * Reconnects after a failover behind one address. Open connections still lead to the old master, which replies
 * READONLY, or UNBLOCKED to a command that waits for a job. A new connection leads to the new master.
 */
function reconnectOn(then: 'fail' | 'repeat'): (error: Error) => Reconnect {
  return ({ message }) => (/READONLY|^UNBLOCKED/.test(message) ? (then === 'repeat' ? 2 : 1) : false)
}

/** The user's own reasons to reconnect still apply. */
function withReasonsOf(connection: RedisOptions | RedisConnectionClient, overrides: Overrides): Overrides {
  const { reconnectOnError: theirs } = connection['options'] ?? connection
  const { reconnectOnError: ours } = overrides
  if (typeof theirs !== 'function' || typeof ours !== 'function') return overrides
  return { ...overrides, reconnectOnError: (error: Error): Reconnect => ours(error) || theirs(error) }
}
