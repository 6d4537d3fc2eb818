import { ConfigurationError, type Duration } from '@ackhook/core'
import { durationMs, oneOf, refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'
import type { FakeClock } from '../lib/fake-clock.ts'
import { type FaultOptions, type Faults, MAX_COUNT, resolveFaults } from './faults.ts'

/**
 * Options of {@link createSender}. The platform has not published its acknowledgement timeout, number of
 * attempts, retry intervals, retry window, unit of `t`, its use of `Retry-After` or when an endpoint counts as
 * unhealthy: those are options here, and their defaults are guesses.
 */
export interface SenderOptions {
  readonly url: string
  /** The endpoint's secret. A list signs with each of them, as a sender may do during a rotation. */
  readonly secret: string | readonly string[]
  /** Attempts at one event, the first included. Not published; default 8. */
  readonly attempts?: number
  /** How long to wait for the reply. Not published; default `'10s'`. Real time, whatever the clock. */
  readonly timeout?: Duration
  /** Delay before the second attempt. Not published; default `'5s'`. */
  readonly minDelay?: Duration
  /** No delay is longer. Not published; default `'1h'`. */
  readonly maxDelay?: Duration
  /** Each delay times this is the next one. Not published; default 3. */
  readonly factor?: number
  /** No attempt starts later than this after the first. Not published; default `'24h'`. */
  readonly retryWindow?: Duration
  /** Whether a longer `Retry-After` of the reply replaces the delay. Not published; default `true`. */
  readonly honourRetryAfter?: boolean
  /** Failed attempts in a row after which the endpoint is unhealthy. Not published; default 5. */
  readonly unhealthyAfter?: number
  /** How `t` is written. Not published; default `'seconds'`. */
  readonly timestampUnit?: 'seconds' | 'milliseconds' | 'iso8601'
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header?: string
  /** Label of the signature scheme. Default `v1`. */
  readonly scheme?: string
  /** What goes wrong. Default: nothing. */
  readonly faults?: FaultOptions
  /** The same seed and events give the same faults. Default 1. */
  readonly seed?: number
  /**
   * Milliseconds since the epoch. Default `Date.now`. With a {@link FakeClock} nothing waits: each delay advances the
   * clock, so that a retry window of a day takes a moment.
   */
  readonly clock?: (() => number) | FakeClock
}

/** Options with every default filled in. */
export interface ResolvedSender {
  readonly url: string
  readonly secrets: readonly string[]
  readonly attempts: number
  readonly timeoutMs: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly factor: number
  readonly retryWindowMs: number
  readonly honourRetryAfter: boolean
  readonly unhealthyAfter: number
  readonly timestampUnit: 'seconds' | 'milliseconds' | 'iso8601'
  readonly header: string
  readonly scheme: string
  readonly faults: Faults
  readonly seed: number
  readonly clock: () => number
}

const DAY_MS = 86_400_000
const NAMES = [
  'url',
  'secret',
  'attempts',
  'timeout',
  'minDelay',
  'maxDelay',
  'factor',
  'retryWindow',
  'honourRetryAfter',
  'unhealthyAfter',
  'timestampUnit',
  'header',
  'scheme',
  'faults',
  'seed',
  'clock',
] as const satisfies readonly (keyof SenderOptions)[]
const UNITS = ['seconds', 'milliseconds', 'iso8601'] as const
const HTTP_TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Not `t`, which is the label of the timestamp. */
const LABEL = /^(?!t$)[A-Za-z0-9_-]+$/

/** Checks every option and fills in every default. Throws `ConfigurationError`. */
export function resolveSender(options: SenderOptions): ResolvedSender {
  refuseUnknownNames(options, NAMES)
  const secrets = typeof options.secret === 'string' ? [options.secret] : [...(options.secret ?? [])]
  if (secrets.length === 0 || secrets.some(secret => typeof secret !== 'string' || secret === '')) {
    throw new ConfigurationError('secret', 'must be the signing secret of the endpoint, or a list of them')
  }
  const minDelayMs = duration('minDelay', options.minDelay ?? '5s', DAY_MS)
  return {
    url: urlOf(options.url),
    secrets,
    attempts: wholeNumber('attempts', options.attempts ?? 8, 1, MAX_COUNT),
    timeoutMs: duration('timeout', options.timeout ?? '10s', DAY_MS),
    minDelayMs,
    maxDelayMs: Math.max(minDelayMs, duration('maxDelay', options.maxDelay ?? '1h', 30 * DAY_MS)),
    factor: atLeastOne('factor', options.factor ?? 3),
    retryWindowMs: duration('retryWindow', options.retryWindow ?? '24h', 365 * DAY_MS),
    honourRetryAfter: options.honourRetryAfter ?? true,
    unhealthyAfter: wholeNumber('unhealthyAfter', options.unhealthyAfter ?? 5, 1, MAX_COUNT),
    timestampUnit: oneOf('timestampUnit', options.timestampUnit ?? 'seconds', UNITS),
    header: textOf('header', options.header ?? 'X-Service-Signature', HTTP_TOKEN, 'an HTTP header name'),
    scheme: textOf('scheme', options.scheme ?? 'v1', LABEL, "a label such as 'v1'"),
    faults: resolveFaults(options.faults ?? {}),
    seed: seedOf(options.seed ?? 1),
    clock: clockOf(options.clock ?? Date.now),
  }
}

function urlOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    // Without the value, which may hold a password.
    throw new ConfigurationError('url', "must be an address such as 'http://127.0.0.1:3000/webhooks'")
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ConfigurationError(
      'url',
      'must hold no user name and no password: fetch refuses such an address',
    )
  }
  return parsed.href
}

function duration(option: string, value: Duration, maxMs: number): number {
  return durationMs(value, { option, minMs: 1, maxMs })
}

function atLeastOne(option: string, value: number): number {
  if (Number.isFinite(value) && value >= 1) return value
  throw new ConfigurationError(option, `must be a number from 1; got ${String(value)}`)
}

function textOf(option: 'header' | 'scheme', value: string, form: RegExp, what: string): string {
  if (typeof value === 'string' && form.test(value)) return value
  throw new ConfigurationError(option, `must be ${what}; got '${String(value)}'`)
}

function seedOf(value: number): number {
  if (Number.isFinite(value)) return value
  throw new ConfigurationError('seed', `must be a number; got '${String(value)}'`)
}

function clockOf<Clock>(value: Clock): Clock {
  if (typeof value === 'function') return value
  throw new ConfigurationError('clock', 'must be a function that returns milliseconds, or a fakeClock()')
}
