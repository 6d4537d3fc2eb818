import { ConfigurationError } from '@ackhook/core'
import type { RedisConnectionClient, RedisOptions } from 'bullmq'

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
export const FOR_DELIVERIES: Overrides = {
  ...ALWAYS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  reconnectOnError: reconnectOn('fail'),
  // A connection that the network has forgotten says nothing, for ever: deliveries have given up on it by then.
  socketTimeout: 3000,
}
/** The worker waits for its server for ever, and for jobs longer than any time limit on a command. */
export const FOR_WORK: Overrides = {
  ...ALWAYS,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  reconnectOnError: reconnectOn('repeat'),
  // BullMQ waits for a job for 10 s at most.
  socketTimeout: 15_000,
}

/** Between two attempts to connect, ioredis' disconnect() tells nobody and leaves its commands pending. */
export function end(client: RedisConnectionClient): void {
  if (client['status'] === 'reconnecting') client['status'] = 'wait'
  client.disconnect?.()
}

/** Makes connections of our own, like the user's but for what we depend on. */
export async function connector(
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
  if (typeof connection === 'string') return overrides => silent(new Redis(connection, { ...overrides }))
  // BullMQ's own option: ioredis would connect to localhost.
  const { url, ...options } = connection
  return overrides => {
    const ours = { ...options, ...withReasonsOf(connection, overrides) }
    return silent(url === undefined ? new Redis(ours) : new Redis(url, ours))
  }
}

function ofCluster(cluster: RedisConnectionClient, overrides: Overrides): RedisConnectionClient {
  // A cluster knows its masters by itself.
  const { retryStrategy, reconnectOnError, ...redisOptions } = overrides
  return cluster.duplicate([], {
    clusterRetryStrategy: retryStrategy,
    // A replica that lags tells neither of a job that is there nor of a dead letter.
    scaleReads: 'master',
    lazyConnect: false,
    enableOfflineQueue: overrides['enableOfflineQueue'],
    redisOptions: { ...cluster['options'].redisOptions, ...redisOptions },
  })
}

/** BullMQ tells of errors while it listens; one that comes before or after must not end the process. */
export function silent(client: RedisConnectionClient): RedisConnectionClient {
  client.on?.('error', () => {})
  client.on?.('close', () => stopWatch(client))
  return client
}

/** ioredis 5 leaves the timer of `socketTimeout` behind, which then ends the next connection, or keeps the process. */
function stopWatch(client: RedisConnectionClient): void {
  clearTimeout(client['socketTimeoutTimer'])
  client['socketTimeoutTimer'] = undefined
}

function isClient(
  connection: string | RedisOptions | RedisConnectionClient,
): connection is RedisConnectionClient {
  return typeof connection === 'object' && typeof connection['duplicate'] === 'function'
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
