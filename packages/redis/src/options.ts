import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, oneOf, refuseUnknownNames } from '@ackhook/core/spi'
import type { RedisClient } from './redis-client.ts'

/** Options of `redisStore`: key prefix, timeout, and behavior while Redis is unavailable. */
export interface RedisStoreOptions {
  /**
   * Prefix of every key. Default `'ackhook:'`. With more than 8 characters, each remembered id takes 16 more bytes.
   */
  readonly prefix?: string | undefined
  /** Time limit for each call, whatever the client's settings. Default `'1s'`. */
  readonly timeout?: Duration | undefined
  /**
   * Response to a delivery while Redis is unavailable. `'reject'` (default): 503, and the sender keeps the event.
   * `'process'`: the event is accepted and runs without a claim, so duplicates may run too.
   */
  readonly onStoreError?: 'reject' | 'process' | undefined
}

export interface ResolvedOptions {
  readonly prefix: string
  readonly timeoutMs: number
  readonly failOpen: boolean
}

const NAMES = ['prefix', 'timeout', 'onStoreError'] as const satisfies readonly (keyof RedisStoreOptions)[]

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
  const { prefix = 'ackhook:', timeout = '1s', onStoreError = 'reject' } = options
  if (typeof prefix !== 'string')
    throw new ConfigurationError('prefix', "must be a string such as 'ackhook:'")
  return {
    prefix,
    timeoutMs: durationMs(timeout, { option: 'timeout', minMs: 10, maxMs: 10_000 }),
    failOpen: oneOf('onStoreError', onStoreError, ['reject', 'process']) === 'process',
  }
}
