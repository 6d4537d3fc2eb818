import type { Duration } from '@ackhook/core'
import type { SecretFlags, SentContractFlags } from '../command/shared-options.ts'

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
  readonly fault?: Readonly<Record<string, string | number | boolean>>
  readonly quiet?: boolean
  readonly json?: boolean
}

/** Which deliveries are meant. */
export interface FilterFlags extends PlaceFlags {
  readonly workspace?: string
  readonly category?: string
  readonly type?: string
  readonly state?: string
  readonly status?: number
  readonly event?: string
  readonly text?: string
  readonly from?: string
  readonly until?: string
}

export interface ListFlags extends FilterFlags {
  readonly limit: number
  readonly after?: string
  readonly oldest?: boolean
}

/** How long a verb waits for the receiver. */
export interface AwaitFlags extends PlaceFlags {
  /** `false` with --no-wait. */
  readonly wait: boolean
  readonly timeout: Duration
}

export interface SendFlags extends AwaitFlags {
  readonly data?: string
  readonly id?: string
  readonly repeat: number
  readonly workspace?: string
  readonly fault?: Readonly<Record<string, string | number | boolean>>
}

export interface ReplayFlags extends FilterFlags, AwaitFlags {
  readonly all?: boolean
  readonly exact?: boolean
  readonly data?: string
  readonly dryRun?: boolean
}

export interface UndeliveredFlags extends ListFlags {
  readonly discard?: boolean
  readonly all?: boolean
  readonly yes?: boolean
}

export interface WaitFlags extends FilterFlags {
  readonly count?: number
  readonly idle?: boolean
  readonly timeout: Duration
}

export interface ResetFlags extends PlaceFlags {
  readonly everything?: boolean
}
