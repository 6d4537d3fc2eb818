import { resolve } from 'node:path'
import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, refuseUnknownNames } from '@ackhook/core/spi'
import type { SqliteDatabase } from './storage/driver/database.ts'

/** Options of `sqliteInbox`: either `path` or `database`. Durations are strings with a unit, such as `'30s'`. */
export interface SqliteInboxOptions {
  /** Database file on a local disk, relative to the current working directory. Created if missing; its folder must exist. */
  readonly path?: string | undefined
  /**
   * Open database of `node:sqlite` or `@photostructure/sqlite`, with SQLite 3.51.3 or later. It cannot move to another
   * thread, so every commit blocks the event loop briefly. Close it yourself, after the receiver.
   */
  readonly database?: SqliteDatabase | undefined
  /**
   * Time after which a dead process's events go to another process. A separate thread renews each lease three times
   * within that time, so a process whose event loop is blocked keeps its events for six leases. With `database`, the
   * event loop renews them. Default `'10s'`, with `database` `'60s'`.
   */
  readonly lease?: Duration | undefined
  /** Interval between checks for events that another process has received. Default `'500ms'`. */
  readonly poll?: Duration | undefined
  /**
   * Creates the file and its tables if they are missing. Default `true`. With `false`, for tools that inspect an inbox,
   * a file without an inbox is a `ConfigurationError` and stays unchanged.
   */
  readonly create?: boolean | undefined
}

export interface ResolvedSqliteOptions {
  readonly source: { readonly path: string } | { readonly database: SqliteDatabase }
  readonly leaseMs: number
  readonly pollMs: number
  readonly create: boolean
}

const NAMES: readonly string[] = [
  'path',
  'database',
  'lease',
  'poll',
  'create',
] satisfies (keyof SqliteInboxOptions)[]

/** Checks every option and fills in every default. Throws `ConfigurationError`. */
export function resolveSqliteOptions(pathOrOptions: string | SqliteInboxOptions): ResolvedSqliteOptions {
  const options = typeof pathOrOptions === 'string' ? { path: pathOrOptions } : pathOrOptions
  if (typeof options !== 'object' || options === null) {
    const isUnset = pathOrOptions === undefined ? 'is undefined: is an environment variable unset? ' : ''
    throw new ConfigurationError('path', `${isUnset}write sqliteInbox('webhooks.db')`)
  }
  refuseUnknownNames(options, NAMES)
  const source = sourceOf(options)
  const { create = true, lease = 'path' in source ? '10s' : '60s', poll = '500ms' } = options
  if (typeof create !== 'boolean') throw new ConfigurationError('create', 'must be true or false')
  return {
    source,
    leaseMs: durationMs(lease, {
      option: 'lease',
      minMs: 1000,
      maxMs: 3_600_000,
    }),
    pollMs: durationMs(poll, { option: 'poll', minMs: 10, maxMs: 3_600_000 }),
    create,
  }
}

function sourceOf({ path, database }: SqliteInboxOptions): ResolvedSqliteOptions['source'] {
  if (path !== undefined && database !== undefined) {
    throw new ConfigurationError('database', 'give either path or database, not both')
  }
  if (database !== undefined) {
    if (typeof database?.exec === 'function' && typeof database.prepare === 'function') return { database }
    throw new ConfigurationError(
      'database',
      'must be an open DatabaseSync of node:sqlite or a compatible driver',
    )
  }
  if (typeof path !== 'string' || path === '') {
    throw new ConfigurationError('path', "must name a file, for example 'webhooks.db'")
  }
  if (path === ':memory:' || path.startsWith('file:')) {
    throw new ConfigurationError(
      'path',
      'must name a file on disk; leave the inbox out to keep events in memory',
    )
  }
  // Resolved now: a replacement thread must open the same file even if the application has changed its directory.
  return { path: resolve(path) }
}
