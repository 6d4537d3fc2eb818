import type { Duration } from '@ackhook/core'
import type { SecretFlags, SentContractFlags } from '../command/shared-options.ts'
import type { FaultFlags } from './shared-options.ts'

/** How a verb finds the emulator. */
export interface PlaceFlags {
  readonly at?: string
  readonly json?: boolean
}

export interface StartFlags extends SecretFlags, SentContractFlags {
  readonly port: number
  readonly host?: string
  readonly to?: string
  readonly data?: string
  readonly seed?: number
  readonly allowTarget?: readonly string[]
  readonly allowHost?: readonly string[]
  readonly httpsOnly?: boolean
  readonly attempts?: number
  readonly timeout?: Duration
  readonly minDelay?: Duration
  readonly maxDelay?: Duration
  readonly fault?: FaultFlags
  readonly quiet?: boolean
  readonly json?: boolean
}

/** Which workspace is meant. */
export interface EndpointFlags extends PlaceFlags {
  readonly workspace?: string
}

/** Where a new secret comes from. */
export interface SecretsFileFlags {
  readonly secretsFile?: string
}

export interface SetEndpointFlags extends EndpointFlags, SecretsFileFlags {
  readonly to?: string
  readonly category?: readonly string[]
  readonly allCategories?: boolean
  readonly type?: readonly string[]
  readonly allTypes?: boolean
}

export interface RotateFlags extends EndpointFlags, SecretsFileFlags {
  readonly overlap?: Duration
}

export interface RemoveFlags extends EndpointFlags {
  readonly yes?: boolean
}

/** Which deliveries are meant. */
export interface FilterFlags extends EndpointFlags {
  readonly category?: string
  readonly type?: string
  readonly state?: string
  readonly kind?: string
  readonly status?: number
  readonly event?: string
  readonly message?: string
  readonly text?: string
  readonly from?: string
  readonly until?: string
}

export interface PageFlags extends PlaceFlags {
  readonly limit: number
  readonly after?: string
  readonly oldest?: boolean
}

export interface ListFlags extends FilterFlags, PageFlags {}

/** How long a verb waits for the receiver. */
export interface AwaitFlags extends PlaceFlags {
  /** `false` with --no-wait. */
  readonly wait: boolean
  readonly timeout: Duration
}

/** The data of an event, as it may be given. */
export interface DataFlags {
  readonly data?: string
  readonly rawData?: string
}

export interface SendFlags extends EndpointFlags, AwaitFlags, DataFlags {
  readonly id?: string
  readonly seed?: number
  readonly repeat: number
  readonly fault?: FaultFlags
}

export interface ReplayFlags extends FilterFlags, AwaitFlags, DataFlags {
  readonly all?: boolean
  readonly exact?: boolean
  readonly body?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export interface DiscardFlags extends FilterFlags {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

export interface ShowFlags extends PlaceFlags {
  readonly body?: boolean
  /** Print the last request as a command for `curl`. */
  readonly curl?: boolean
}

export interface StatsFlags extends FilterFlags {
  readonly buckets?: number
}

export interface WaitFlags extends FilterFlags {
  readonly count?: number
  readonly idle?: boolean
  readonly timeout: Duration
}

export interface SendMessageFlags extends PlaceFlags {
  readonly channel: string
  readonly to: string
  readonly template: string
  readonly variables?: string
}

export interface ReceiveMessageFlags extends EndpointFlags {
  readonly from: string
  readonly channel?: string
}

export interface ResetFlags extends PlaceFlags {
  readonly everything?: boolean
}
