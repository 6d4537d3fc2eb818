import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import type { Duration } from '../errors/parse-duration.ts'
import { type Contract, type ContractOptions, resolveContract } from '../events/contract.ts'
import type { EventSchemas } from '../events/event-types.ts'
import { type DedupeStore, isStore } from '../inbox/dedupe-store.ts'
import type { SerializeBy } from '../inbox/delivery.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { type RetryOptions, type RetryPolicy, resolveRetry } from '../inbox/retry.ts'
import { oneOf, refuseNull, refuseUnknownNames, wholeNumber } from '../lib/check-option.ts'
import { durationMs, formatMs } from '../lib/duration.ts'
import { refuseGenerator } from '../lib/lazy-value.ts'
import { toLogger } from '../observe/foreign-loggers.ts'
import { guardLogger } from '../observe/guards.ts'
import type { AnyLogger, Logger } from '../observe/logger.ts'
import type { Observer } from '../observe/observation.ts'
import type { SecretSource } from '../verify/secrets.ts'
import { toleranceMsOf } from '../verify/timestamp.ts'
import { type Body, type BodyOptions, resolveBody } from './body-options.ts'
import { type Concurrency, type ConcurrencyOptions, resolveConcurrency } from './concurrency.ts'
import type { Effects } from './effects.ts'
import { type ExpectEvery, type Expected, resolveExpectEvery } from './silence.ts'

/** Options of a receiver. Only `secret` is required. Durations are strings with a unit, such as `'5m'`. */
export interface ReceiverOptions<
  Schemas extends EventSchemas = Record<never, never>,
  Context = unknown,
  Strict extends boolean = boolean,
> {
  /** The endpoint's signing secret, a list during a rotation, or a function of the request's context. */
  readonly secret: SecretSource<Context> | undefined
  /** Maximum difference between `t` and this clock, in either direction. Default `'5m'`. `false` disables the check. */
  readonly tolerance?: Duration | false | undefined
  /**
   * Store of handled ids for the in-process inbox. Default: its own memory, bounded like `memoryStore()`. Cannot be
   * combined with `inbox`.
   */
  readonly store?: DedupeStore | undefined
  /** Inbox that holds events between the acknowledgement and the handlers. Default `memoryInbox({ store })`. */
  readonly inbox?: Inbox | undefined
  /**
   * Effects whose marks the handlers set, such as `sqlEffects(db)` of `@ackhook/sql`. They are checked at start, `forget`
   * deletes marks too, and marks that nothing can need any more are deleted.
   */
  readonly effects?: Effects | undefined
  /**
   * `'immediately'` (default): 2xx as soon as the inbox has the event. `'after-processing'`: 200 once the handlers have
   * finished, 500 if they failed, so that the platform retries.
   */
  readonly acknowledge?: 'immediately' | 'after-processing' | undefined
  /** Attempts and delays. Default 5 attempts within a minute and a half; durable inboxes: 8 within 9 to 23 hours. */
  readonly retry?: RetryOptions | undefined
  /**
   * Events handled at one time. Default 16. `0` with a durable inbox: this process only receives. An object such as
   * `{ total: 16, perType: 4 }` shares the slots among types, namespaces or groups of your own. Handlers that outlive
   * `handlerTimeout` keep their slot until they end: let them heed their `signal`.
   */
  readonly concurrency?: number | ConcurrencyOptions | undefined
  /**
   * Maximum number of events waiting or running, beyond which the reply is 503. Default 10,000; 100,000 with
   * `bullmqInbox`, 1,000,000 with `sqliteInbox`.
   */
  readonly capacity?: number | undefined
  /**
   * Maximum bytes of memory for the events in the memory inbox. A waiting or running event counts as its body and an
   * estimate of what its values take once parsed, ordinary JSON as about four times its body; a dead letter counts as
   * its body. Beyond it the oldest dead letters are dropped, and then the reply is 503; an event that alone exceeds it
   * runs while no other waits or runs. Default 64 MiB. At least `body.limit`. Durable inboxes ignore it.
   */
  readonly capacityBytes?: number | undefined
  /**
   * Time limit for the handlers of one event; beyond it `signal` is aborted and the attempt fails. Default `'60s'`.
   * Handlers that ignore their signal keep the event and its slot of `concurrency` until they end: for ten times as
   * long, at least a minute and at most an hour.
   */
  readonly handlerTimeout?: Duration | undefined
  /**
   * How long a durable inbox's events wait for the process that handles their type most specifically, after it was last
   * seen. They then become dead letters. Default `'10m'`, at least `'5s'`.
   */
  readonly handlerWait?: Duration | undefined
  /** Limits on the bodies of requests: their size, nesting, values and time, such as `{ limit: 262_144 }`. */
  readonly body?: BodyOptions | undefined
  /** Retention of handled ids. Default `'7d'`. Make it longer than the sender's entire retry window. */
  readonly retention?: Duration | undefined
  /**
   * How long a durable inbox keeps dead letters after their last attempt. Default `false`: until someone redrives or
   * discards them, since their events were acknowledged. Each drop is logged and observed.
   */
  readonly deadLetterRetention?: Duration | false | undefined
  /**
   * Keeps the ids of several endpoints or tenants apart. A string, or a function of the request's context. No signature
   * covers it: derive it from the key that selects the secret.
   */
  readonly namespace?: (string | ((context: Context) => string)) | undefined
  /**
   * Runs events of one key (say, a conversation) one at a time, the oldest waiting one first. Without a key
   * (`undefined` or `null`), an event waits for no other. Each namespace has keys of its own. Handlers that ignore their
   * signal keep the turn after `handlerTimeout`: for ten times as long, at least a minute and at most an hour.
   */
  readonly serializeBy?: SerializeBy | undefined
  /** Overrides for parts that the platform may still change: header, scheme, unit of `t`, field names, `upcast`. */
  readonly contract?: ContractOptions | undefined
  /** A Standard Schema for the data of each type. An event that does not match gets 422, or what `onInvalid` says. */
  readonly events?: Schemas | undefined
  /**
   * What happens to a genuine event that its schema in `events`, or `contract.upcast`, does not accept. `'refuse'`
   * (default): 422, and the sender keeps it, until it gives up. `'dead-letter'`: it is acknowledged and becomes a dead
   * letter without running a handler, to be redriven once the schema is right.
   */
  readonly onInvalid?: 'refuse' | 'dead-letter' | undefined
  /**
   * `true`: `on` takes only published types, those of `events`, their categories and `'*'`. Any other is an error, for
   * the compiler and when `on` is called. Types that only `EventMap` declares exist for the compiler alone. Default
   * `false`: a pattern that matches none of them is logged at start.
   */
  readonly strict?: Strict | undefined
  /**
   * Longest time without a genuine delivery; beyond it one error is logged, and a warning once deliveries arrive again.
   * A duration, an object by type or category (`{ 'message.*': '10m' }`), or functions of the time that return a duration
   * or, in quiet hours, `false`. Not for hosts that freeze processes between requests. Default: nothing is expected.
   */
  readonly expectEvery?: ExpectEvery | undefined
  /** Receives an observation of everything that happens, without payload data. */
  readonly observe?: Observer | undefined
  /**
   * Default: warnings and errors as process warnings, or on the console if process warnings are unavailable or off
   * (`--no-warnings`). pino, bunyan, `fastify.log` and `console` fit, and the loggers of winston, LogTape, Nest, Backstage,
   * tslog and signale. Any other gets the fields first; if it takes the text first, pass `messageFirst(logger)`.
   */
  readonly logger?: AnyLogger | undefined
  /** Milliseconds since the epoch, for the tolerance check and for records. Default `Date.now`. */
  readonly clock?: (() => number) | undefined
}

type Options<Context> = ReceiverOptions<EventSchemas, Context>
/** Options used as given. */
type Kept = 'inbox' | 'acknowledge' | 'capacity' | 'namespace' | 'clock'

type Given<Some> = { readonly [Name in keyof Some]-?: NonNullable<Some[Name]> }

/** Options with every default filled in and every value checked. */
export interface ResolvedOptions<Context> extends Given<Pick<Options<Context>, Kept>>, Body, Concurrency {
  readonly secret: SecretSource<Context>
  readonly toleranceMs: number
  readonly retry: RetryPolicy
  readonly handlerTimeoutMs: number
  readonly handlerWaitMs: number
  readonly capacityBytes: number
  readonly retentionMs: number
  readonly deadLetterRetentionMs: number | undefined
  readonly effects: Effects | undefined
  readonly serializeBy: Options<Context>['serializeBy'] | undefined
  readonly contract: Contract
  readonly schemas: EventSchemas
  readonly strict: boolean
  readonly keepsInvalid: boolean
  readonly expected: readonly Expected[]
  readonly observe: Observer | undefined
  readonly logger: Logger
}

/** Names of all receiver options. */
export const RECEIVER_OPTIONS: readonly string[] = [
  'secret',
  'tolerance',
  'store',
  'inbox',
  'effects',
  'acknowledge',
  'retry',
  'concurrency',
  'capacity',
  'capacityBytes',
  'handlerTimeout',
  'handlerWait',
  'body',
  'retention',
  'deadLetterRetention',
  'namespace',
  'serializeBy',
  'contract',
  'events',
  'onInvalid',
  'strict',
  'expectEvery',
  'observe',
  'logger',
  'clock',
] satisfies (keyof ReceiverOptions)[]

/** Former names of options, with what to write instead. */
export const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  bodyLimit: 'body: { limit }',
  bodiesLimit: 'body: { totalLimit }',
  bodyDepth: 'body: { depth }',
  bodyValues: 'body: { values }',
  bodyTimeout: 'body: { timeout }',
}

type DurationOption = 'retention' | 'handlerTimeout' | 'handlerWait'
type CountOption = 'capacity' | 'capacityBytes'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const ACKNOWLEDGE = ['immediately', 'after-processing'] as const

/** Checks every option and fills in every default. Throws {@link ConfigurationError}. */
export function resolveOptions<Context>(options: Options<Context>): ResolvedOptions<Context> {
  refuseUnknownNames(options, RECEIVER_OPTIONS, '', '{ secret: process.env.SIGNING_SECRET }', RENAMED_OPTIONS)
  refuseNull({ ...options, secret: undefined })
  const duration = (option: DurationOption, preset: Duration, minMs: number, maxMs: number): number =>
    durationMs(options[option] ?? preset, { option, minMs, maxMs })
  const count = (option: CountOption, preset: number, min: number, max: number, unit?: string): number =>
    wholeNumber(option, options[option] ?? preset, min, max, unit)
  const toleranceMs = toleranceMsOf(options.tolerance)
  const retentionMs = duration('retention', '7d', 1000, YEAR_MS)
  if (Number.isFinite(toleranceMs) && retentionMs < 2 * toleranceMs) {
    throw new ConfigurationError(
      'retention',
      `must be at least twice the tolerance, or a replay inside the tolerance would run again; got ${formatMs(retentionMs)} with a tolerance of ${formatMs(toleranceMs)}`,
    )
  }
  const acknowledge = oneOf('acknowledge', options.acknowledge ?? 'immediately', ACKNOWLEDGE)
  const inbox = inboxOf(options, acknowledge)
  const { bodyLimits, bodyBounds } = resolveBody(options.body)
  const { maxBytes } = bodyLimits
  const capacityBytes = count('capacityBytes', 67_108_864, 1, Number.MAX_SAFE_INTEGER, 'bytes')
  const smallest = `must be at least body.limit, so that the largest event fits; got ${capacityBytes} with a body.limit of ${maxBytes}`
  if (inbox.durable !== true && capacityBytes < maxBytes)
    throw new ConfigurationError('capacityBytes', smallest)
  const resolved: ResolvedOptions<Context> = {
    secret: options.secret as SecretSource<Context>,
    toleranceMs,
    inbox,
    acknowledge,
    retry: retryOf(options, acknowledge, inbox),
    ...resolveConcurrency(options.concurrency, inbox),
    capacity: count('capacity', inbox.defaultCapacity ?? 10_000, 1, 1_000_000_000),
    capacityBytes,
    handlerTimeoutMs: duration('handlerTimeout', '60s', 1, DAY_MS),
    handlerWaitMs: duration('handlerWait', '10m', 5000, DAY_MS),
    bodyLimits,
    bodyBounds,
    retentionMs,
    deadLetterRetentionMs: letterRetentionOf(options.deadLetterRetention ?? false, inbox),
    namespace: namespaceOf(options.namespace ?? ''),
    effects: effectsOf(options.effects),
    serializeBy: serializeByOf(options, inbox),
    contract: resolveContract(options.contract),
    schemas: schemasOf(options.events ?? {}),
    keepsInvalid:
      oneOf('onInvalid', options.onInvalid ?? 'refuse', ['refuse', 'dead-letter']) === 'dead-letter',
    strict: strictOf(options.strict ?? false),
    expected: resolveExpectEvery(options.expectEvery),
    observe: functionOf('observe', options.observe),
    logger: guardLogger(toLogger(options.logger ?? platform.defaultLogger)),
    clock: functionOf('clock', options.clock) ?? Date.now,
  }
  const { concurrency, capacity, handlerTimeoutMs, retry } = resolved
  inbox.checkOptions?.({ concurrency, capacity, handlerTimeoutMs, retry, retentionMs })
  return resolved
}

function letterRetentionOf(retention: Duration | false, inbox: Inbox): number | undefined {
  if (retention === false) return undefined
  const option = 'deadLetterRetention'
  const { discardOlder, now } = inbox.deadLetters
  if (discardOlder === undefined || now === undefined)
    throw new ConfigurationError(option, inbox.cannotDiscardOlder ?? NO_RETENTION)
  return durationMs(retention, { option, minMs: 60 * MINUTE_MS, maxMs: 10 * YEAR_MS })
}

const NO_RETENTION =
  'leave it out: this inbox does not drop dead letters by their age. sqliteInbox and bullmqInbox do'

function inboxOf(options: Pick<ReceiverOptions, 'inbox' | 'store'>, acknowledge: string): Inbox {
  const { inbox, store } = options
  if (isInbox(store)) throw swapped('store', 'an inbox: write inbox:')
  if (isStore(inbox)) throw swapped('inbox', 'a store: write store:')
  if (inbox === undefined) return memoryInbox(store === undefined ? {} : { store })
  if (store !== undefined) {
    throw new ConfigurationError(
      'store',
      'leave it out: the inbox remembers ids itself. For the in-process inbox write memoryInbox({ store })',
    )
  }
  if (!isInbox(inbox) || typeof inbox.start !== 'function') {
    throw new ConfigurationError('inbox', "must be an inbox such as sqliteInbox('webhooks.db')")
  }
  if (acknowledge === 'after-processing' && inbox.durable === true) {
    throw new ConfigurationError(
      'acknowledge',
      "'after-processing' stores no events, so leave out the durable inbox, or acknowledge 'immediately'",
    )
  }
  return inbox
}

function isInbox(value: unknown): boolean {
  return typeof (value as Partial<Inbox> | null | undefined)?.accept === 'function'
}

function effectsOf(effects: Effects | undefined): Effects | undefined {
  if (effects === undefined) return undefined
  if (typeof effects.start === 'function' && typeof effects.forget === 'function') return effects
  throw new ConfigurationError('effects', 'must be the effects of your handlers, such as sqlEffects(db)')
}

function swapped(option: string, fix: string): ConfigurationError {
  return new ConfigurationError(option, `this is ${fix}`, { page: 'inbox-and-store' })
}

function serializeByOf(
  { serializeBy }: Pick<ReceiverOptions, 'serializeBy'>,
  { cannotSerialize }: Inbox,
): ResolvedOptions<never>['serializeBy'] {
  if (serializeBy !== undefined && cannotSerialize !== undefined)
    throw new ConfigurationError('serializeBy', cannotSerialize)
  return functionOf('serializeBy', serializeBy)
}

function retryOf(options: Pick<ReceiverOptions, 'retry'>, acknowledge: string, inbox: Inbox): RetryPolicy {
  if (acknowledge === 'immediately') return resolveRetry(options.retry, inbox.defaultRetry)
  if (options.retry !== undefined) {
    throw new ConfigurationError(
      'retry',
      "leave it out with acknowledge: 'after-processing': the platform retries instead",
    )
  }
  return { ...resolveRetry(), attempts: Number.POSITIVE_INFINITY }
}

function namespaceOf<Context>(namespace: string | ((context: Context) => string)): typeof namespace {
  refuseGenerator('namespace', namespace)
  if (typeof namespace === 'string' || typeof namespace === 'function') return namespace
  throw new ConfigurationError(
    'namespace',
    'must be a string, or a function of the request context that returns one',
  )
}

function schemasOf(schemas: EventSchemas): EventSchemas {
  if (typeof schemas !== 'object' || Array.isArray(schemas))
    throw new ConfigurationError('events', "must be an object such as { 'message.delivered': schema }")
  for (const [type, schema] of Object.entries(schemas)) {
    if (typeof schema?.['~standard']?.validate !== 'function') {
      throw new ConfigurationError(
        `events['${type}']`,
        'must be a Standard Schema, for example from zod, valibot or arktype',
      )
    }
  }
  return schemas
}

function strictOf(strict: boolean): boolean {
  if (typeof strict === 'boolean') return strict
  throw new ConfigurationError('strict', 'must be true or false')
}

function functionOf<T>(option: string, value: T): T {
  if (value !== undefined && typeof value !== 'function')
    throw new ConfigurationError(option, 'must be a function')
  refuseGenerator(option, value)
  return value
}
