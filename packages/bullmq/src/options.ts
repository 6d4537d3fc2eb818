import { ConfigurationError, type Duration } from '@ackhook/core'
import { describeError, durationMs, kindOf, refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'
import type { PostgresConnectionOptions, RedisConnectionClient, RedisOptions, Telemetry } from 'bullmq'
import { type LeaseLimits, limitsOf } from './engine/lease-limits.ts'

/** A `pg` pool, recognized by properties that options lack: its own type and BullMQ's are incompatible. */
export interface PostgresPool {
  readonly connect: unknown
  readonly query: unknown
  readonly end: unknown
  readonly totalCount: number
}

/** Location of the queue, on Redis (`connection`) or PostgreSQL (`postgres`), and limits on its work. */
export interface BullmqInboxOptions {
  /**
   * Redis: your ioredis client or cluster, a `redis://` address, or ioredis options, including BullMQ's `url`. Your
   * client is only duplicated: whatever its settings, a delivery waits at most a second for the server, and the worker
   * keeps trying to reconnect.
   */
  readonly connection?: string | URL | RedisOptions | RedisConnectionClient | undefined
  /**
   * PostgreSQL instead of Redis: a `postgres://` address, options of `pg.Pool` (with BullMQ's own `schema` and
   * `migrate`), or your pool, with BullMQ's schema in its `search_path`. Opens at most 10 connections; `max` sets another
   * bound, of at least 2.
   */
  readonly postgres?: URL | PostgresPool | PostgresConnectionOptions | undefined
  /** Name of the BullMQ queue. Default `'ackhook'`. */
  readonly queue?: string | undefined
  /**
   * Prefix of all keys in Redis. Default BullMQ's own, `'bull'`. Redis only. A cluster needs a hash tag: `'{ackhook}'`.
   */
  readonly prefix?: string | undefined
  /**
   * Time without a sign of life after which a worker's events go to another one: BullMQ's `lockDuration`. Renewed while
   * handlers run. A dead process's events run again after at most one and a quarter times this; a process whose event
   * loop is blocked keeps its events for at least four fifths of it. Default `'11s'`, and so 14 s and 8.8 s.
   */
  readonly lease?: Duration | undefined
  /** Limit of `events` events per `per`, for all workers together: BullMQ's `limiter`. */
  readonly rateLimit?: { readonly events: number; readonly per: Duration } | undefined
  /** BullMQ's telemetry, for example `new BullMQOtel('webhooks')` from `bullmq-otel`. */
  readonly telemetry?: Telemetry | undefined
  /**
   * Creates the queue if there is none. Default `true`. With `false`, meant for tools that inspect an inbox, a missing
   * queue is a `ConfigurationError`.
   */
  readonly create?: boolean | undefined
}

export interface ResolvedOptions {
  readonly engine:
    | { readonly kind: 'redis'; readonly connection: string | RedisOptions | RedisConnectionClient }
    | { readonly kind: 'postgres'; readonly connection: PostgresConnectionOptions }
  readonly queue: string
  readonly prefix: string | undefined
  /** Everything that depends on the lease. */
  readonly limits: LeaseLimits
  readonly limiter: { readonly max: number; readonly duration: number } | undefined
  readonly telemetry: Telemetry | undefined
  readonly create: boolean
}

const NAMES = ['connection', 'postgres', 'queue', 'prefix', 'lease', 'rateLimit', 'telemetry', 'create']
const DAY_MS = 86_400_000
const MAX_EVENTS = 1_000_000_000
/** Hash tag as Redis defines it: from the first brace on, and not empty. */
const HASH_TAG = /^[^{]*\{[^}]+\}/

/** Checks every option. Throws {@link ConfigurationError}. */
export function resolveOptions(options: BullmqInboxOptions): ResolvedOptions {
  refuseQueues(options)
  refuseUnknownNames(options, NAMES, '', "{ connection: 'redis://localhost:6379' }")
  refuseNull(options)
  const { prefix, rateLimit, telemetry, create = true } = options
  if (typeof create !== 'boolean') throw new ConfigurationError('create', 'must be true or false')
  if (prefix !== undefined && options.postgres !== undefined) {
    throw new ConfigurationError(
      'prefix',
      "is only for Redis; for PostgreSQL, set { postgres: { schema: '…' } }",
    )
  }
  const engine = engineOf(options)
  const queue = nameOf('queue', options.queue ?? 'ackhook')
  if (prefix !== undefined) nameOf('prefix', prefix)
  if (engine.kind === 'redis') checkSlot(engine.connection, `${prefix ?? 'bull'}:${queue}:`)
  return {
    engine,
    queue,
    prefix,
    limits: limitsOf(durationMs(options.lease ?? '11s', { option: 'lease', minMs: 1000, maxMs: 3_600_000 })),
    limiter: rateLimit === undefined ? undefined : limiterOf(rateLimit),
    telemetry,
    create,
  }
}

/** Refuses a removed option with what does its work now. */
function refuseQueues(options: BullmqInboxOptions): void {
  if (!Object.hasOwn(Object(options), 'queues')) return
  throw new ConfigurationError(
    'queues',
    'was removed: leave it out. If one queue is too small, register two endpoints with the platform, split by event type, each with an inbox and a `queue` of its own',
    { page: 'unknown-options' },
  )
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

/** A `URL` has no own properties. Treated as options, it would lead to localhost. */
function addressOf<T>(value: T | URL): T | string {
  return kindOf(value) === 'URL' ? (value as URL).href : (value as Exclude<typeof value, URL>)
}

function postgresOf(postgres: PostgresPool | PostgresConnectionOptions): PostgresConnectionOptions {
  if (typeof postgres === 'string' && !/^postgres(ql)?:\/\//.test(postgres)) {
    throw new ConfigurationError('postgres', 'must begin with postgres:// or postgresql://')
  }
  if ((typeof postgres === 'object' && postgres !== null) || typeof postgres === 'string') {
    checkPoolSize(postgres)
    const isOptions = typeof postgres === 'object' && !('query' in postgres)
    if (isOptions) requireAddress('postgres', postgres, POSTGRES_ADDRESS)
    return postgres as PostgresConnectionOptions
  }
  throw new ConfigurationError('postgres', 'must be a pg pool, its options or an address')
}

/** Checks that the pool has a second connection: the worker always listens on one. */
function checkPoolSize(postgres: object | string): void {
  const { max } = { ...Object(postgres), ...Object(postgres)['options'] }
  if (max === undefined || max >= 2) return
  throw new ConfigurationError('postgres', `must allow at least two connections; got max: ${max}`)
}

/** The options that locate a server and a place in it. Any of `complete` makes `parts` unnecessary. */
interface Address {
  readonly complete: readonly string[]
  readonly parts: readonly string[]
  readonly within: readonly string[]
}

const POSTGRES_ADDRESS: Address = {
  complete: ['connectionString'],
  parts: ['host', 'port', 'user', 'database'],
  within: ['schema'],
}
const REDIS_ADDRESS: Address = {
  complete: ['url', 'path', 'sentinels'],
  parts: ['host', 'port', 'db'],
  within: [],
}

/**
 * Refuses a variable that is not set: clients treat it as an omitted option, and connect to localhost or another
 * database. A complete address needs no parts, and a host needs no complete address.
 */
function requireAddress(option: string, connection: object, { complete, parts, within }: Address): void {
  const given = connection as Readonly<Record<string, unknown>>
  const isGiven = (name: string) => !isNothing(given[name])
  const needed = complete.some(isGiven) ? [] : [...(isGiven('host') ? [] : complete), ...parts]
  const empty = [...needed, ...within].find(name => name in given && !isGiven(name))
  if (empty === undefined) return
  throw new ConfigurationError(
    `${option}.${empty}`,
    `is ${given[empty] === '' ? 'an empty string' : describeError(given[empty])}, so the client would connect to its default: set its environment variable, or leave it out`,
    { page: 'unset-variables' },
  )
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** A null connection has its own message elsewhere. */
function refuseNull({ connection: _, postgres: __, ...options }: BullmqInboxOptions): void {
  const name = Object.entries(options).find(([, value]) => value === null)?.[0]
  if (name !== undefined) throw new ConfigurationError(name, 'must not be null: leave it out for its default')
}

type RedisConnection = string | RedisOptions | RedisConnectionClient

function redisAddress(address: unknown): string {
  if (typeof address === 'string' && /^rediss?:\/\//.test(address)) return address
  throw new ConfigurationError(
    'connection',
    "must begin with redis:// or rediss://; a PostgreSQL address belongs in the option 'postgres'",
  )
}

function redisOf(connection: RedisConnection): RedisConnection {
  if (typeof connection === 'string') return redisAddress(connection)
  if (typeof connection !== 'object' || connection === null) {
    throw new ConfigurationError('connection', 'must be an ioredis client, its options or an address')
  }
  if (typeof connection['connect'] === 'function' && typeof connection['defineCommand'] !== 'function') {
    throw new ConfigurationError('connection', 'must be an ioredis 5 or 6 client, its options or an address')
  }
  const keyPrefix = keyPrefixOf(connection)
  if (keyPrefix) {
    throw new ConfigurationError(
      'connection',
      "must have no keyPrefix, which BullMQ does not support; use the inbox's option 'prefix'",
    )
  }
  const isClient = typeof connection['duplicate'] === 'function'
  if (!isClient) requireAddress('connection', connection, REDIS_ADDRESS)
  if (isClient || connection['url'] === undefined) return connection
  return { ...connection, url: redisAddress(addressOf(connection['url'])) }
}

/** Each of BullMQ's scripts uses several keys, which must be on one node of a cluster. */
function checkSlot(connection: RedisConnection, key: string): void {
  if (typeof connection === 'string' || connection['isCluster'] !== true || HASH_TAG.test(key)) return
  throw new ConfigurationError(
    'prefix',
    "must have a hash tag on a Redis Cluster, which spreads keys without one over its nodes: prefix: '{ackhook}'",
  )
}

function keyPrefixOf(connection: RedisOptions | RedisConnectionClient): unknown {
  const options = connection['options'] as Record<string, unknown> | undefined
  return connection['keyPrefix'] || options?.['keyPrefix']
}

function nameOf(option: string, name: string): string {
  if (typeof name === 'string' && name !== '' && !name.includes(':')) return name
  throw new ConfigurationError(option, `must be a name without ':', BullMQ's separator; got '${name}'`)
}

function limiterOf(
  rateLimit: NonNullable<BullmqInboxOptions['rateLimit']>,
): NonNullable<ResolvedOptions['limiter']> {
  refuseUnknownNames(rateLimit, ['events', 'per'], 'rateLimit', "{ events: 100, per: '1s' }")
  return {
    max: wholeNumber('rateLimit.events', rateLimit.events, 1, MAX_EVENTS),
    duration: durationMs(rateLimit.per, { option: 'rateLimit.per', minMs: 1, maxMs: DAY_MS }),
  }
}
