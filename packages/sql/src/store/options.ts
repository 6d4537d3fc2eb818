import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import type { Dialect } from '../database/dialect.ts'

/** Options of `sqlStore`: key prefix, timeout, and the dialect of a database object that does not tell. */
export interface SqlStoreOptions {
  /** Prefix of every key, at most 100 bytes. Default none. Receivers that share a table share ids unless it differs. */
  readonly prefix?: string | undefined
  /** Time limit for each call, including the wait for a connection of the pool. Default `'1s'`. */
  readonly timeout?: Duration | undefined
  /** Which database it is, for an object that does not tell. */
  readonly dialect?: Dialect | undefined
}

const NAMES = ['prefix', 'timeout', 'dialect'] as const satisfies readonly (keyof SqlStoreOptions)[]
const MAX_PREFIX_BYTES = 100

export interface ResolvedStoreOptions {
  readonly prefix: string
  readonly timeoutMs: number
}

/** Throws `ConfigurationError`. */
export function resolveStoreOptions(options: SqlStoreOptions): ResolvedStoreOptions {
  refuseUnknownNames(options, NAMES)
  const { prefix = '', timeout = '1s' } = options
  const isText = typeof prefix === 'string' && !prefix.includes('\0')
  if (!isText || Buffer.byteLength(prefix) > MAX_PREFIX_BYTES)
    throw new ConfigurationError(
      'prefix',
      `must be a string of at most ${MAX_PREFIX_BYTES} bytes, such as 'orders:'`,
    )
  return { prefix, timeoutMs: durationMs(timeout, { option: 'timeout', minMs: 10, maxMs: 10_000 }) }
}
