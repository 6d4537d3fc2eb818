import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, oneOf, refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'
import type { Confirmation } from './confirmed-by-replicas.ts'
import type { RedisClient } from './redis-client.ts'

/** Options of `redisStore`: key prefix, timeout, and behavior while Redis is unavailable. */
export interface RedisStoreOptions {
  /**
   * Prefix of every key, before the number of the stored form. Default `'ackhook'`. With more than 7 characters, each
   * remembered id takes 16 more bytes.
   */
  readonly prefix?: string | undefined
  /** Time limit for each call, whatever the client's settings. Default `'1s'`. */
  readonly timeout?: Duration | undefined
  /**
   * Response to a delivery while Redis is unavailable. `'reject'` (default): 503, and the sender keeps the event.
   * `'process'`: the event is accepted and runs without a claim, so duplicates may run too.
   */
  readonly onStoreError?: 'reject' | 'process' | undefined
  /**
   * Number of replicas that must confirm a claim and a completion (Redis' `WAIT`) before they count, so that a failover to one
   * of them forgets neither. Otherwise 503. Default 0. The store then uses a connection of its own, because `WAIT` holds
   * it up; on Redis Cluster the number applies to each master.
   */
  readonly replicas?: number | undefined
}

export interface ResolvedOptions {
  /** With the number of the form. */
  readonly prefix: string
  /** Prefix of the keys of versions from before the first release. */
  readonly earlierPrefix: string
  readonly timeoutMs: number
  readonly failOpen: boolean
  readonly confirmation: Confirmation | undefined
}

/** Number of the form of a key and its value. A change of it raises the number. */
const FORM = 2

const NAMES = [
  'prefix',
  'timeout',
  'onStoreError',
  'replicas',
] as const satisfies readonly (keyof RedisStoreOptions)[]

/** Throws `ConfigurationError`. */
export function resolveOptions(client: RedisClient, options: RedisStoreOptions): ResolvedOptions {
  for (const method of ['evalsha', 'eval', 'call'] as const) {
    if (typeof client?.[method] !== 'function') {
      throw new ConfigurationError(
        'client',
        `must be an ioredis client such as new Redis(url); it has no '${method}'`,
      )
    }
  }
  refuseUnknownNames(options, NAMES)
  const { prefix = 'ackhook', timeout = '1s', onStoreError = 'reject', replicas = 0 } = options
  if (typeof prefix !== 'string') throw new ConfigurationError('prefix', "must be a string such as 'ackhook'")
  const timeoutMs = durationMs(timeout, { option: 'timeout', minMs: 10, maxMs: 10_000 })
  return {
    prefix: `${prefix}${FORM}`,
    earlierPrefix: options.prefix ?? 'ackhook:',
    timeoutMs,
    failOpen: oneOf('onStoreError', onStoreError, ['reject', 'process']) === 'process',
    confirmation: confirmationOf(client, wholeNumber('replicas', replicas, 0, MAX_REPLICAS), timeoutMs),
  }
}

const MAX_REPLICAS = 10
/** Share of a call's time that Redis may wait for its replicas. The rest is for the way. */
const WAIT_SHARE = 0.7

function confirmationOf(client: RedisClient, replicas: number, timeoutMs: number): Confirmation | undefined {
  if (replicas === 0) return undefined
  for (const method of ['duplicate', 'pipeline'] as const) {
    if (typeof client[method] === 'function') continue
    throw new ConfigurationError('replicas', `needs a client with '${method}', such as new Redis(url)`)
  }
  return { replicas, waitMs: Math.ceil(timeoutMs * WAIT_SHARE) }
}
