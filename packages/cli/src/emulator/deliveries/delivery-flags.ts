import type { Duration } from '@ackhook/core'
import type { EndpointFlags, PlaceFlags } from '../lib/emulator-flags.ts'
import type { FaultFlags } from '../lib/shared-options.ts'

/** Flags that select deliveries. */
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

/** Flags that control how long a verb waits for the receiver. */
export interface AwaitFlags extends PlaceFlags {
  /** `false` with --no-wait. */
  readonly wait: boolean
  readonly timeout: Duration
}

/** Flags for event data. */
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
  /** Print commands that repeat the last request with `curl`. */
  readonly curl?: boolean
  /** Save the last request to this file. */
  readonly save?: string
}

export interface WaitFlags extends FilterFlags {
  readonly count?: number
  readonly idle?: boolean
  readonly timeout: Duration
}
