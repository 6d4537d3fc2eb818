import type { Socket } from 'node:net'
import { ConfigurationError } from '@ackhook/core'
import type { RedisConnectionClient, RedisOptions } from 'bullmq'

type Overrides = Readonly<Record<string, unknown>>
/** Opens our own connection: like the user's, except for the settings that we depend on. */
export type Connect = (overrides: Overrides) => RedisConnectionClient
/** Values of ioredis: 1 for a new connection, 2 to send the command again on it as well. */
type Reconnect = boolean | 1 | 2

/** Never give up on the server, whatever the user's own client does. */
const ALWAYS = {
  lazyConnect: false,
  retryStrategy: (times: number): number => Math.min(times * 100, 2000),
  // While a server loads its data, ioredis waits as long as the server estimates, up to 10 s, before it tries again.
  maxLoadingRetryTime: 500,
  // BullMQ and this package calculate with Redis' numbers.
  stringNumbers: false,
}
/** A delivery must fail at once when the server is gone: the sender repeats it, so nothing is queued here. */
export const FOR_DELIVERIES: Overrides = {
  ...ALWAYS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: reconnectOn('fail'),
  // A connection that the network has dropped silently never ends by itself. Deliveries have given up by then.
  socketTimeout: 3000,
}
/** The worker waits for its server forever, and for jobs longer than any time limit on a command. */
export const FOR_WORK: Overrides = {
  ...ALWAYS,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  reconnectOnError: reconnectOn('repeat'),
  // BullMQ blocks for a job for 10 s at most.
  socketTimeout: 15_000,
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
  const { Redis } = await import('ioredis').catch(cause => {
    throw new ConfigurationError('connection', "needs the package 'ioredis': npm install ioredis", {
      cause,
      page: 'missing-packages',
    })
  })
  // Early releases of ioredis 5 have a default export alone.
  if (Redis === undefined) {
    throw new ConfigurationError('connection', 'needs ioredis 5.3 or later: npm install ioredis@latest', {
      page: 'missing-packages',
    })
  }
  if (typeof connection === 'string')
    return overrides => ignoreErrors(new Redis(connection, { ...overrides }))
  // `url` is BullMQ's own option: ioredis would ignore it and connect to localhost.
  const { url, ...options } = connection
  return overrides => {
    const ours = { ...options, ...withReasonsOf(connection, overrides) }
    return ignoreErrors(url === undefined ? new Redis(ours) : new Redis(url, ours))
  }
}

/** Disconnects for good. Between two connection attempts, ioredis' own disconnect() emits nothing and leaves commands pending. */
export function disconnect(client: RedisConnectionClient): void {
  if (client['status'] === 'reconnecting') client['status'] = 'wait'
  client.disconnect?.()
}

/** BullMQ reports errors while it listens. An error before or after that must not end the process. */
export function ignoreErrors(client: RedisConnectionClient): RedisConnectionClient {
  client.on?.('error', () => {})
  client.on?.('close', () => clearSocketTimeout(client))
  client.on?.('connecting', () => setImmediate(ignoreLaterErrors, client))
  client.on?.('connect', () => readBeforeTimeout(client['stream']))
  return client
}

/**
 * A TLS socket that is closed within its handshake may emit two errors, and ioredis listens to the first
 * (https://github.com/redis/ioredis/pull/962). It makes its socket in the turn in which it begins to connect.
 */
function ignoreLaterErrors(client: RedisConnectionClient): void {
  client['stream']?.on('error', () => {})
}

/** ioredis 5 leaves the timer of `socketTimeout` running, which ends the next connection or keeps the process alive. */
function clearSocketTimeout(client: RedisConnectionClient): void {
  clearTimeout(client['socketTimeoutTimer'])
  client['socketTimeoutTimer'] = undefined
}

/**
 * Reads the network once more before a connection is given up. Replies may arrive, and `socketTimeout` expire, while a
 * handler blocks the event loop, and Node runs the timer first. A cluster itself has no socket.
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
  // A cluster finds its masters by itself. It connects to a node only for a command: a node that is still connecting while
  // the cluster reads its own state makes it start again, for seconds.
  const { retryStrategy, reconnectOnError, ...redisOptions } = overrides
  return cluster.duplicate([], {
    clusterRetryStrategy: retryStrategy,
    // A lagging replica lacks the newest jobs and the newest dead letters.
    scaleReads: 'master',
    lazyConnect: false,
    enableOfflineQueue: overrides['enableOfflineQueue'],
    redisOptions: { ...cluster['options'].redisOptions, ...redisOptions, lazyConnect: true },
  })
}

/**
 * Reconnects after a failover behind one address. Open connections still lead to the old master, which replies READONLY, or
 * UNBLOCKED to a command that waits for a job. A new connection leads to the new master.
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
