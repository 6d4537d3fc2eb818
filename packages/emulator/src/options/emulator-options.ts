import { ConfigurationError, type Duration, type Logger } from '@ackhook/core'
import { durationMs, refuseUnknownNames, secretsFault, wholeNumber } from '@ackhook/core/spi'
import type { FakeClock } from '@ackhook/testing'
import {
  DELIVERY_NAMES,
  type DeliveryOptions,
  type DeliveryRules,
  resolveDeliveryRules,
} from '@ackhook/testing/spi'
import { resolveEmulatorFaults } from '../lib/fault-settings.ts'
import { withoutUndefined } from '../lib/read-fields.ts'
import { isLoopback } from '../security/addresses.ts'
import type { EmulatorFaults } from '../shapes/faults.ts'
import type { Maybe } from '../shapes/field.ts'
import type { SettingName, SettingView } from '../shapes/settings.ts'

/**
 * Options of {@link startEmulator}. Options for unpublished behavior say so, and their defaults are guesses.
 */
export interface EmulatorOptions {
  /** Port to listen on; `0` picks a free one. Default 4400. */
  readonly port?: number | undefined
  /** Address to listen on. One other than loopback needs a `token`. Default: 127.0.0.1 and ::1. */
  readonly host?: string | undefined
  /** Bearer token that every call of the API must carry. Default: none. */
  readonly token?: string | undefined
  /** Host names that requests may use, besides loopback ones. */
  readonly allowedHosts?: readonly string[] | undefined
  /** SQLite file for all state, created with mode 0600. Default `':memory:'`. */
  readonly data?: string | undefined
  /** The same seed, calls and replies give the same attempts, faults and delays. Default: random. */
  readonly seed?: number | undefined
  /** Clock in milliseconds since the epoch. Give the receiver the same one. Default `Date.now`. */
  readonly clock?: ((() => number) | FakeClock) | undefined
  /** Address to send the default workspace's events to. */
  readonly to?: string | undefined
  /**
   * Signing secret of the default workspace's endpoint, unless that endpoint is set later with its own. At least 16
   * bytes. Default: generated with the endpoint, and returned once.
   */
  readonly secret?: string | undefined
  /** Hosts that events may be sent to, even without TLS, besides loopback. */
  readonly allowTargets?: readonly string[] | undefined
  /** Refuses endpoints without TLS, as the platform does. Default `false`. */
  readonly httpsOnly?: boolean | undefined
  /** Retries, time limits and concurrency of deliveries. Not published: see {@link DeliveryOptions}. */
  readonly delivery?:
    | (Maybe<DeliveryOptions> & {
        /** Concurrent requests to one endpoint. Not published; default 8. */
        readonly concurrency?: number | undefined
      })
    | undefined
  /** Faults to inject. Default: none. */
  readonly faults?: EmulatorFaults | undefined
  /** How long both secrets sign after a rotation. Not published; default `'24h'`. */
  readonly rotationOverlap?: Duration | undefined
  /** Limits beyond which an endpoint gets a health warning. */
  readonly health?:
    | {
        /** Period over which attempts are counted. Not published; default `'10m'`. */
        readonly window?: Duration | undefined
        /** Minimum number of attempts in the window for a warning. Not published; default 5. */
        readonly minAttempts?: number | undefined
        /** Lowest share of failures that causes a warning, from 0 to 1. Not published; default 0.5. */
        readonly share?: number | undefined
      }
    | undefined
  /** Size of the log. Pending and undelivered events are never removed. */
  readonly retention?:
    | {
        /** Maximum number of finished deliveries. Default 100,000. */
        readonly deliveries?: number | undefined
        /**
         * Maximum total bytes of events, requests and replies. Beyond it, the oldest finished deliveries are removed. If
         * there are none, replies to earlier attempts are dropped, and new events get 503. Default 268,435,456 (256 MiB).
         */
        readonly bytes?: number | undefined
        /** Maximum age of finished deliveries. Default `'7d'`. */
        readonly age?: Duration | undefined
        /** Maximum number of pending and undelivered events. Beyond it, new ones get 503. Default 100,000. */
        readonly undelivered?: number | undefined
      }
    | undefined
  /** The reply to `POST /v1/messages`, which is not published. `$id` in a string of `body` becomes the message's id. */
  readonly messageReply?:
    | {
        /** Default 202. */
        readonly status?: number | undefined
        /** Default `{ id: '$id' }`. */
        readonly body?: Readonly<Record<string, unknown>> | undefined
      }
    | undefined
  /**
   * Address of the receiver's dashboard, such as `'http://localhost:3000/webhooks-dashboard/'`, whose view of an event the
   * page shows beside the attempts. It must let this machine read, and be at an address that events may be sent to.
   */
  readonly dashboard?: string | undefined
  /** Address of a trace, with `{traceId}`: `'http://localhost:16686/trace/{traceId}'`. */
  readonly traceUrl?: string | undefined
  /** Folder with the page to serve at `/`. Default: this package's page, if it is built. */
  readonly page?: string | undefined
  /** Logger for warnings and errors. Default: none. */
  readonly logger?: Logger | undefined
}

/** {@link EmulatorOptions} with all defaults. */
export interface ResolvedEmulator {
  readonly port: number
  readonly host: string | undefined
  readonly token: string | undefined
  readonly allowedHosts: readonly string[]
  readonly data: string
  readonly seed: number | undefined
  readonly clock: () => number
  readonly to: string | undefined
  readonly secret: string | undefined
  readonly allowTargets: readonly string[]
  readonly httpsOnly: boolean
  readonly rules: DeliveryRules
  readonly concurrency: number
  readonly faults: EmulatorFaults
  readonly overlapMs: number
  readonly health: { readonly windowMs: number; readonly minAttempts: number; readonly share: number }
  readonly retention: {
    readonly deliveries: number
    readonly bytes: number
    readonly ageMs: number
    readonly undelivered: number
  }
  readonly messageReply: { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  readonly dashboard: string | undefined
  readonly traceUrl: string | undefined
  readonly page: string | undefined
  readonly logger: Logger | undefined
}

const NAMES = [
  ...['port', 'host', 'token', 'allowedHosts', 'data', 'seed', 'clock', 'to', 'secret', 'allowTargets'],
  ...[
    'httpsOnly',
    'delivery',
    'faults',
    'rotationOverlap',
    'health',
    'retention',
    'messageReply',
    'dashboard',
    'traceUrl',
    'page',
    'logger',
  ],
]
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const MILLION = 1_000_000

/** Checks all options and adds defaults. Throws `ConfigurationError`. */
export function resolveEmulator(options: EmulatorOptions): ResolvedEmulator {
  refuseUnknownNames(options, NAMES)
  const { concurrency = 8, ...delivery } = objectOption('delivery', options.delivery)
  refuseUnknownNames(delivery, DELIVERY_NAMES, 'delivery')
  const { faults = {}, port = 4400, clock = Date.now, rotationOverlap = '24h' } = options
  resolveEmulatorFaults(faults)
  refuseUnset(options)
  const token = textOption('token', options.token)
  return {
    port: wholeNumber('port', port, 0, 65_535),
    host: hostOption(options.host, token),
    token,
    allowedHosts: listOption('allowedHosts', options.allowedHosts),
    data: textOption('data', options.data) ?? ':memory:',
    seed:
      options.seed === undefined ? undefined : wholeNumber('seed', options.seed, 0, Number.MAX_SAFE_INTEGER),
    clock: clockOption(clock),
    to: textOption('to', options.to),
    secret: secretOption(options.secret),
    allowTargets: listOption('allowTargets', options.allowTargets),
    httpsOnly: booleanOption('httpsOnly', options.httpsOnly),
    rules: resolveDeliveryRules(withoutUndefined(delivery), 'delivery.'),
    concurrency: wholeNumber('delivery.concurrency', concurrency, 1, 1000),
    faults,
    overlapMs: durationMs(rotationOverlap, {
      option: 'rotationOverlap',
      minMs: 0,
      maxMs: YEAR_MS,
    }),
    health: healthOption(options.health),
    retention: retentionOption(options.retention),
    messageReply: messageReplyOption(options.messageReply),
    dashboard: textOption('dashboard', options.dashboard),
    traceUrl: traceUrlOption(options.traceUrl),
    page: textOption('page', options.page),
    logger: loggerOption(options.logger),
  }
}

/** Options with a silent fallback, which an unset environment variable must not trigger. */
const UNSET: Readonly<Record<string, string>> = {
  data: "leave it out, or write ':memory:', to keep everything in memory",
  token: 'leave it out to allow everyone on this machine',
}

function refuseUnset(options: object): void {
  for (const [name, fix] of Object.entries(UNSET)) {
    if (Object.hasOwn(options, name) && (options as Record<string, unknown>)[name] === undefined)
      throw new ConfigurationError(name, `is undefined; ${fix}`)
  }
}

function objectOption<T extends object>(option: string, value: T | undefined): T | Record<string, never> {
  if (value === undefined) return {}
  if (typeof value === 'object' && value !== null) return value
  throw new ConfigurationError(option, 'must be an object')
}

function booleanOption(option: string, value = false): boolean {
  if (typeof value === 'boolean') return value
  throw new ConfigurationError(option, 'must be true or false')
}

function loggerOption(logger: Logger | undefined): Logger | undefined {
  const names = ['info', 'warn', 'error'] as const
  if (logger === undefined || names.every(name => typeof Object(logger)[name] === 'function')) return logger
  throw new ConfigurationError('logger', 'must have the functions info, warn and error')
}

function hostOption(host: string | undefined, token: string | undefined): string | undefined {
  const checked = textOption('host', host)
  if (checked === undefined || checked === 'localhost') return undefined
  if (!isLoopback(checked) && token === undefined) {
    throw new ConfigurationError(
      'host',
      'other than loopback needs the option token: without it, everyone on the network could read and send',
    )
  }
  return checked
}

function textOption(option: string, value: string | undefined): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value
  throw new ConfigurationError(option, 'must be a non-empty string')
}

function traceUrlOption(value: string | undefined): string | undefined {
  const url = textOption('traceUrl', value)
  if (url === undefined || (/^https?:\/\//.test(url) && url.includes('{traceId}'))) return url
  throw new ConfigurationError('traceUrl', 'must be an http or https address that contains {traceId}')
}

function secretOption(value: string | undefined): string | undefined {
  const secret = textOption('secret', value)
  const fault = secret === undefined ? undefined : secretsFault([secret])
  if (fault !== undefined) throw new ConfigurationError('secret', fault)
  return secret
}

function listOption(option: string, value: readonly string[] = []): readonly string[] {
  if (Array.isArray(value) && value.every(one => typeof one === 'string' && /^[\w.:[\]-]+$/.test(one)))
    return value
  throw new ConfigurationError(option, "must be a list of hosts without scheme or port, such as ['app']")
}

function clockOption<Clock>(value: Clock): Clock {
  if (typeof value === 'function') return value
  throw new ConfigurationError('clock', 'must be a function that returns milliseconds, or a fakeClock()')
}

function healthOption(options: EmulatorOptions['health'] = {}): ResolvedEmulator['health'] {
  refuseUnknownNames(options, ['window', 'minAttempts', 'share'], 'health')
  const { share = 0.5, window = '10m', minAttempts = 5 } = options
  if (!(share > 0 && share <= 1))
    throw new ConfigurationError('health.share', 'must be above 0 and at most 1')
  return {
    windowMs: durationMs(window, { option: 'health.window', minMs: 1000, maxMs: DAY_MS }),
    minAttempts: wholeNumber('health.minAttempts', minAttempts, 1, MILLION),
    share,
  }
}

function retentionOption(options: EmulatorOptions['retention'] = {}): ResolvedEmulator['retention'] {
  refuseUnknownNames(options, ['deliveries', 'bytes', 'age', 'undelivered'], 'retention')
  const { deliveries = 100_000, bytes = 268_435_456, age = '7d', undelivered = 100_000 } = options
  return {
    deliveries: wholeNumber('retention.deliveries', deliveries, 1, MILLION),
    bytes: wholeNumber('retention.bytes', bytes, 1_048_576, Number.MAX_SAFE_INTEGER),
    ageMs: durationMs(age, { option: 'retention.age', minMs: 1000, maxMs: YEAR_MS }),
    undelivered: wholeNumber('retention.undelivered', undelivered, 1, MILLION),
  }
}

function messageReplyOption(options: EmulatorOptions['messageReply'] = {}): ResolvedEmulator['messageReply'] {
  refuseUnknownNames(options, ['status', 'body'], 'messageReply')
  const { status = 202, body = { id: '$id' } } = options
  if (typeof body !== 'object' || body === null)
    throw new ConfigurationError('messageReply.body', 'must be an object')
  return { status: wholeNumber('messageReply.status', status, 200, 599), body }
}

/** Values of all settings, with durations in milliseconds. */
export function settingValues(
  { rules, health, retention, messageReply, ...options }: ResolvedEmulator,
  seed: number,
): Readonly<Record<SettingName, SettingView['value']>> {
  return {
    'delivery.header': rules.header,
    'delivery.scheme': rules.scheme,
    'delivery.timestampUnit': rules.timestampUnit,
    'delivery.attempts': rules.attempts,
    'delivery.timeout': rules.timeoutMs,
    'delivery.minDelay': rules.minDelayMs,
    'delivery.maxDelay': rules.maxDelayMs,
    'delivery.factor': rules.factor,
    'delivery.retryWindow': rules.retryWindowMs,
    'delivery.honorRetryAfter': rules.honorRetryAfter,
    'delivery.insecure': rules.insecure,
    'delivery.concurrency': options.concurrency,
    rotationOverlap: options.overlapMs,
    'health.window': health.windowMs,
    'health.minAttempts': health.minAttempts,
    'health.share': health.share,
    'messageReply.status': messageReply.status,
    'messageReply.body': JSON.stringify(messageReply.body),
    httpsOnly: options.httpsOnly,
    'retention.deliveries': retention.deliveries,
    'retention.bytes': retention.bytes,
    'retention.age': retention.ageMs,
    'retention.undelivered': retention.undelivered,
    seed,
  }
}
