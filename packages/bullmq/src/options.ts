import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs } from '@ackhook/core/spi'
import type { PostgresConnectionOptions, RedisConnectionClient, RedisOptions, Telemetry } from 'bullmq'

/** A pool of `pg`, as far as it has to be told from options: its own type and BullMQ's do not fit each other. */
export interface PostgresPool {
  readonly connect: unknown
  readonly query: unknown
  readonly end: unknown
  readonly totalCount: number
}

/** Where the queue is, on Redis (`connection`) or on PostgreSQL (`postgres`), and how it is worked. */
export interface BullmqInboxOptions {
  /**
   * Redis: an ioredis client or cluster of yours, a `redis://` address, or options of ioredis, which may have BullMQ's
   * `url`. A client is only duplicated: whatever its settings are, deliveries never wait for it and the worker never
   * gives up on it.
   */
  readonly connection?: string | URL | RedisOptions | RedisConnectionClient
  /**
   * PostgreSQL instead of Redis: a `postgres://` address, options of `pg.Pool` (with BullMQ's own `schema` and
   * `migrate`), or a pool of yours whose `search_path` holds BullMQ's schema.
   */
  readonly postgres?: URL | PostgresPool | PostgresConnectionOptions
  /** Name of the BullMQ queue. Default `'ackhook'`. */
  readonly queue?: string
  /** What all keys in Redis begin with. Default BullMQ's own, `'bull'`. Redis only; a cluster needs a hash tag, `'{ackhook}'`. */
  readonly prefix?: string
  /**
   * How long a worker may be silent before its events are given to another: BullMQ's `lockDuration` and
   * `stalledInterval`. Renewed while handlers run. Default `'30s'`.
   */
  readonly lease?: Duration
  /** At most so many events in so much time, over all workers together: BullMQ's `limiter`. */
  readonly rateLimit?: { readonly events: number; readonly per: Duration }
  /** BullMQ's telemetry, for example `new BullMQOtel('webhooks')` of `bullmq-otel`. */
  readonly telemetry?: Telemetry
}

export interface ResolvedOptions {
  readonly engine:
    | { readonly kind: 'redis'; readonly connection: string | RedisOptions | RedisConnectionClient }
    | { readonly kind: 'postgres'; readonly connection: PostgresConnectionOptions }
  readonly queue: string
  readonly prefix: string | undefined
  readonly leaseMs: number
  readonly limiter: { readonly max: number; readonly duration: number } | undefined
  readonly telemetry: Telemetry | undefined
}

const NAMES = ['connection', 'postgres', 'queue', 'prefix', 'lease', 'rateLimit', 'telemetry']
const DAY_MS = 86_400_000
/** As Redis reads it: from the first brace on, and not empty. */
const HASH_TAG = /^[^{]*\{[^}]+\}/

/** Checks every option. Throws {@link ConfigurationError}. */
export function resolveOptions(options: BullmqInboxOptions): ResolvedOptions {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError('options', 'must be an object such as { connection: process.env.REDIS_URL }')
  }
  const unknown = Object.keys(options).find(name => !NAMES.includes(name))
  if (unknown !== undefined) {
    throw new ConfigurationError(unknown, `is no option; the options are ${NAMES.join(', ')}`)
  }
  const { prefix, rateLimit, telemetry } = options
  if (prefix !== undefined && options.postgres !== undefined) {
    throw new ConfigurationError('prefix', "is for Redis; PostgreSQL has { postgres: { schema: '…' } }")
  }
  const engine = engineOf(options)
  const queue = nameOf('queue', options.queue ?? 'ackhook')
  if (prefix !== undefined) nameOf('prefix', prefix)
  if (engine.kind === 'redis') checkSlot(engine.connection, `${prefix ?? 'bull'}:${queue}:`)
  return {
    engine,
    queue,
    prefix,
    leaseMs: durationMs(options.lease ?? '30s', { option: 'lease', minMs: 1000, maxMs: 3_600_000 }),
    limiter: rateLimit && {
      max: countOf(rateLimit.events),
      duration: durationMs(rateLimit.per, { option: 'rateLimit.per', minMs: 1, maxMs: DAY_MS }),
    },
    telemetry,
  }
}

function engineOf({ connection, postgres }: BullmqInboxOptions): ResolvedOptions['engine'] {
  if ((connection === undefined) === (postgres === undefined)) {
    throw new ConfigurationError(
      'connection',
      "give either connection (Redis: a client, 'redis://…' or options) or postgres (a pool, 'postgres://…' or options)",
    )
  }
  if (postgres !== undefined) return { kind: 'postgres', connection: postgresOf(addressOf(postgres)) }
  return { kind: 'redis', connection: redisOf(addressOf(connection!)) }
}

/** A `URL` has no properties of its own: taken for options it would lead to localhost. */
function addressOf<T>(value: T | URL): T | string {
  return value instanceof URL ? value.href : value
}

function postgresOf(postgres: PostgresPool | PostgresConnectionOptions): PostgresConnectionOptions {
  if (typeof postgres === 'string' && !/^postgres(ql)?:\/\//.test(postgres)) {
    throw new ConfigurationError('postgres', 'must begin with postgres:// or postgresql://')
  }
  if ((typeof postgres === 'object' && postgres !== null) || typeof postgres === 'string') {
    return postgres as PostgresConnectionOptions
  }
  throw new ConfigurationError('postgres', 'must be a pool of pg, its options or an address')
}

type RedisConnection = string | RedisOptions | RedisConnectionClient

function redisAddress(address: unknown): string {
  if (typeof address === 'string' && /^rediss?:\/\//.test(address)) return address
  throw new ConfigurationError(
    'connection',
    "must begin with redis:// or rediss://; a PostgreSQL address belongs into the option 'postgres'",
  )
}

function redisOf(connection: RedisConnection): RedisConnection {
  if (typeof connection === 'string') return redisAddress(connection)
  if (typeof connection !== 'object' || connection === null) {
    throw new ConfigurationError('connection', 'must be an ioredis client, an address or options of ioredis')
  }
  if (typeof connection['connect'] === 'function' && typeof connection['defineCommand'] !== 'function') {
    throw new ConfigurationError(
      'connection',
      'must be a client of ioredis 5 or 6, or its options or address',
    )
  }
  const keyPrefix = keyPrefixOf(connection)
  if (keyPrefix) {
    throw new ConfigurationError(
      'connection',
      "must have no keyPrefix, which BullMQ cannot work with; use the option 'prefix' of the inbox",
    )
  }
  const isClient = typeof connection['duplicate'] === 'function'
  if (isClient || connection['url'] === undefined) return connection
  return { ...connection, url: redisAddress(addressOf(connection['url'])) }
}

/** Every script of BullMQ's works with several keys, which a cluster wants on one of its nodes. */
function checkSlot(connection: RedisConnection, key: string): void {
  if (typeof connection === 'string' || connection['isCluster'] !== true || HASH_TAG.test(key)) return
  throw new ConfigurationError(
    'prefix',
    "must have a hash tag on a Redis Cluster, which keeps keys without one apart: prefix: '{ackhook}'",
  )
}

function keyPrefixOf(connection: RedisOptions | RedisConnectionClient): unknown {
  const options = connection['options'] as Record<string, unknown> | undefined
  return connection['keyPrefix'] || options?.['keyPrefix']
}

function nameOf(option: string, name: string): string {
  if (typeof name === 'string' && name !== '' && !name.includes(':')) return name
  throw new ConfigurationError(option, `must be a name without ':', which BullMQ separates by; got '${name}'`)
}

function countOf(events: number): number {
  if (Number.isInteger(events) && events >= 1) return events
  throw new ConfigurationError('rateLimit.events', `must be a whole number from 1; got ${String(events)}`)
}
