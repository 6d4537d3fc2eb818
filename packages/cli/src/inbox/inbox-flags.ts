import type { Duration } from '@ackhook/core'
import type { Order } from '../command/shared-options.ts'

export interface InboxFlags {
  readonly sqlite?: string
  readonly redis?: string
  readonly postgres?: string
  /** `true` if `redis` is a node of a Redis Cluster. */
  readonly cluster?: boolean
  readonly queue?: string
  readonly prefix?: string
  readonly schema?: string
  /** Absent: any namespace; for `forget`, events outside any namespace. */
  readonly namespace?: string
  readonly json?: boolean
}

/** Flags of `pause` and `resume`. */
export interface PauseFlags extends InboxFlags {
  readonly all?: boolean
}

export interface UiFlags extends InboxFlags {
  readonly port: number
  readonly readOnly?: boolean
  readonly bodies?: boolean
  readonly traceUrl?: string
  readonly emulator?: string
}

/** Flags that select dead letters, besides their namespace. */
export interface FilterFlags extends InboxFlags {
  readonly type?: string
  readonly error?: string
  /** Fingerprint of a group, as `inbox groups` prints it. */
  readonly group?: string
  /** Time since the last attempt. */
  readonly olderThan?: Duration
}

export interface ListFlags extends FilterFlags {
  readonly limit: number
  readonly order: Order
  readonly after?: string
}

export interface GroupsFlags extends InboxFlags {
  readonly limit: number
}

export interface ChangeFlags extends FilterFlags {
  readonly all?: boolean
  readonly yes?: boolean
  /** Counts the letters, and changes none. */
  readonly dryRun?: boolean
  /** Events per second. Absent: no limit. */
  readonly rate?: number
  /** Waits for the results of a redrive. */
  readonly follow?: boolean
}
