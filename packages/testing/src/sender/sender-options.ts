import { ConfigurationError } from '@ackhook/core'
import { refuseUnknownNames, wholeNumber } from '@ackhook/core/spi'
import type { FakeClock } from '../lib/fake-clock.ts'
import {
  DELIVERY_NAMES,
  type DeliveryOptions,
  type DeliveryRules,
  resolveDeliveryRules,
} from './delivery-rules.ts'
import { type FaultOptions, type Faults, MAX_COUNT, resolveFaults } from './faults.ts'

/**
 * Options of {@link createSender}. The platform has not published when an endpoint counts as unhealthy: that default is a
 * guess, too.
 */
export interface SenderOptions extends DeliveryOptions {
  readonly url: string
  /** The endpoint's secret. Each secret in a list signs, as a sender may do during a rotation. */
  readonly secret: string | readonly string[]
  /** Failed attempts in a row after which the endpoint is unhealthy. Not published; default 5. */
  readonly unhealthyAfter?: number | undefined
  /** Faults to inject. Default: none. */
  readonly faults?: FaultOptions | undefined
  /** Seed of the faults: the same seed and events give the same faults. Default 1. */
  readonly seed?: number | undefined
  /**
   * Milliseconds since the epoch. Default `Date.now`. A {@link FakeClock} makes every wait instant: each delay advances
   * the clock, so that a retry window of a day takes a moment.
   */
  readonly clock?: ((() => number) | FakeClock) | undefined
}

/** Options with every default filled in. */
export interface ResolvedSender extends DeliveryRules {
  readonly url: string
  readonly secrets: readonly string[]
  readonly unhealthyAfter: number
  readonly faults: Faults
  readonly seed: number
  readonly clock: () => number
}

const NAMES = [
  ...DELIVERY_NAMES,
  'url',
  'secret',
  'unhealthyAfter',
  'faults',
  'seed',
  'clock',
] as const satisfies readonly (keyof SenderOptions)[]

/** Checks every option and fills in every default. Throws `ConfigurationError`. */
export function resolveSender(options: SenderOptions): ResolvedSender {
  refuseUnknownNames(options, NAMES)
  const secrets = typeof options.secret === 'string' ? [options.secret] : [...(options.secret ?? [])]
  if (secrets.length === 0 || secrets.some(secret => typeof secret !== 'string' || secret === '')) {
    throw new ConfigurationError('secret', "must be your endpoint's signing secret, or a list of secrets")
  }
  return {
    url: urlOf(options.url),
    secrets,
    ...resolveDeliveryRules(options),
    unhealthyAfter: wholeNumber('unhealthyAfter', options.unhealthyAfter ?? 5, 1, MAX_COUNT),
    faults: resolveFaults(options.faults ?? {}),
    seed: seedOf(options.seed ?? 1),
    clock: clockOf(options.clock ?? Date.now),
  }
}

function urlOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    // The value may contain a password, so it is left out.
    throw new ConfigurationError('url', "must be an address such as 'http://127.0.0.1:3000/webhooks'")
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new ConfigurationError(
      'url',
      'must not contain a user name or password: both would appear in every log',
    )
  }
  return parsed.href
}

function seedOf(value: number): number {
  if (Number.isFinite(value)) return value
  throw new ConfigurationError('seed', `must be a number; got '${String(value)}'`)
}

function clockOf<Clock>(value: Clock): Clock {
  if (typeof value === 'function') return value
  throw new ConfigurationError('clock', 'must be a function that returns milliseconds, or a fakeClock()')
}
