import { ConfigurationError, type Duration, type EnvelopeFields } from '@ackhook/core'
import { durationMs, oneOf, resolveContract, wholeNumber } from '@ackhook/core/spi'
import { MAX_COUNT } from './faults.ts'

/**
 * Rules of delivery. The platform has not published its acknowledgement timeout, number of attempts, retry intervals,
 * retry window, unit of `t` or use of `Retry-After`. These are options, and their defaults are guesses.
 */
export interface DeliveryOptions {
  /** Maximum number of attempts at one event, including the first. Not published; default 8. */
  readonly attempts?: number | undefined
  /** Time limit for the reply, in real time whatever the clock. Not published; default `'10s'`. */
  readonly timeout?: Duration | undefined
  /** Delay before the second attempt. Not published; default `'5s'`. */
  readonly minDelay?: Duration | undefined
  /** Longest delay. Not published; default `'1h'`. */
  readonly maxDelay?: Duration | undefined
  /** Factor from one delay to the next. Not published; default 3. */
  readonly factor?: number | undefined
  /** Time after the first attempt beyond which no attempt starts. Not published; default `'24h'`. */
  readonly retryWindow?: Duration | undefined
  /** Lets a longer `Retry-After` in the reply replace the delay. Not published; default `true`. */
  readonly honorRetryAfter?: boolean | undefined
  /** Accepts a certificate that cannot be verified, such as one of your own machine. Default `false`. */
  readonly insecure?: boolean | undefined
  /** Format of `t`. Not published; default `'seconds'`. */
  readonly timestampUnit?: 'seconds' | 'milliseconds' | 'iso8601' | undefined
  /** Name of the signature header. Default `X-Service-Signature`. */
  readonly header?: string | undefined
  /** Label of the signature scheme. Default `v1`. */
  readonly scheme?: string | undefined
  /** Names of an event's fields in the body. Default `id`, `type`, `created_at`, `data`. */
  readonly fields?: { readonly [Field in keyof EnvelopeFields]?: string | undefined } | undefined
}

/** {@link DeliveryOptions} with every default filled in. */
export interface DeliveryRules {
  readonly attempts: number
  readonly timeoutMs: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly factor: number
  readonly retryWindowMs: number
  readonly honorRetryAfter: boolean
  readonly insecure: boolean
  readonly timestampUnit: 'seconds' | 'milliseconds' | 'iso8601'
  readonly header: string
  readonly scheme: string
  readonly fields: EnvelopeFields
}

/** The names of {@link DeliveryOptions}. */
export const DELIVERY_NAMES: readonly (keyof DeliveryOptions)[] = [
  'attempts',
  'timeout',
  'minDelay',
  'maxDelay',
  'factor',
  'retryWindow',
  'honorRetryAfter',
  'insecure',
  'timestampUnit',
  'header',
  'scheme',
  'fields',
]

const DAY_MS = 86_400_000
const UNITS = ['seconds', 'milliseconds', 'iso8601'] as const

/** Checks every option. Throws `ConfigurationError`, which names the option with its `prefix`. */
export function resolveDeliveryRules(options: DeliveryOptions, prefix = ''): DeliveryRules {
  const duration = (name: keyof DeliveryOptions, value: Duration, maxMs: number) =>
    durationMs(value, { option: prefix + name, minMs: 1, maxMs })
  const { header = 'X-Service-Signature', scheme = 'v1', fields = {} } = options
  const contract = resolveContract({ header, scheme, fields }, prefix)
  const minDelayMs = duration('minDelay', options.minDelay ?? '5s', DAY_MS)
  return {
    attempts: wholeNumber(`${prefix}attempts`, options.attempts ?? 8, 1, MAX_COUNT),
    timeoutMs: duration('timeout', options.timeout ?? '10s', DAY_MS),
    minDelayMs,
    maxDelayMs: Math.max(minDelayMs, duration('maxDelay', options.maxDelay ?? '1h', 30 * DAY_MS)),
    factor: atLeastOne(`${prefix}factor`, options.factor ?? 3),
    retryWindowMs: duration('retryWindow', options.retryWindow ?? '24h', 365 * DAY_MS),
    honorRetryAfter: options.honorRetryAfter ?? true,
    insecure: trueOrFalse(`${prefix}insecure`, options.insecure ?? false),
    timestampUnit: oneOf(`${prefix}timestampUnit`, options.timestampUnit ?? 'seconds', UNITS),
    header: contract.header,
    scheme: contract.scheme,
    fields: contract.fields,
  }
}

/** Not any truthy value: the text 'false' would switch verification off. */
function trueOrFalse(option: string, value: boolean): boolean {
  if (typeof value === 'boolean') return value
  throw new ConfigurationError(option, `must be true or false; got ${String(value)}`)
}

function atLeastOne(option: string, value: number): number {
  if (Number.isFinite(value) && value >= 1) return value
  throw new ConfigurationError(option, `must be a number of at least 1; got ${String(value)}`)
}
