import type { Delivery, SerialOrder } from '@ackhook/core'
import type { ActivityQuery, BrowseState, CountedSlot, PublishedHandlers } from '@ackhook/core/spi'

/** An event that has arrived: the parts of its delivery that the file stores. */
export type Arrival = Pick<
  Delivery,
  'key' | 'namespace' | 'id' | 'type' | 'fingerprint' | 'receivedAt' | 'body' | 'order' | 'trace' | 'group'
>

/** Returns an ordering key and a time as the file stores them. */
export function storedOrder({ key, createdAt }: SerialOrder): SerialOrder {
  return { key: withoutNul(String(key)), createdAt: Math.round(createdAt) }
}

/**
 * Escapes NULs, so that different ordering keys stay different. `@photostructure/sqlite` binds a text only up to a NUL:
 * tenant, NUL, conversation would become one key for the whole tenant.
 */
export function withoutNul(text: string): string {
  return text.replace(/[\0\ufdd0]/g, one => (one === '\0' ? '\ufdd00' : '\ufdd01'))
}

/** One process's right to run a row's event. The row contains this token while the lease holds. */
export interface Lease {
  readonly seq: number
  readonly token: string
}

/** The result of an attempt. Changes nothing unless the lease still holds. */
export type Settlement = Lease &
  /** `next`: the ordering key's next row, which already runs and gets its lease with this result. */
  (
    | { readonly kind: 'complete'; readonly forgetAt: number; readonly next?: Lease }
    | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: string }
    /** Does not count as an attempt. */
    | { readonly kind: 'postpone'; readonly delayMs: number; readonly mark: number }
    | {
        readonly kind: 'dead-letter'
        readonly reason: string
        /** Routing token if this does not count as an attempt; `null` if it does, which keeps the event's token. */
        readonly mark: number | null
        /** Fingerprint of letters with such an error. */
        readonly group: string
        readonly stack: string | null
      }
    /** Gives the row back, to run as soon as a process has a free slot. `begun`: the attempt counts. */
    | { readonly kind: 'release'; readonly begun: boolean }
  )

export type Query =
  | { readonly kind: 'stats' | 'throughput' | 'board' | 'paused' | 'time' }
  /** `undefined`: all types. */
  | { readonly kind: 'pause' | 'resume'; readonly type: string | undefined }
  | ({ readonly kind: 'list' } & ListRequest)
  /** Counts a piece of the letters by group. */
  | { readonly kind: 'groups'; readonly after: GroupPosition | undefined }
  /** Reads the newest letter of each group. */
  | { readonly kind: 'samples'; readonly groups: readonly string[] }
  | ({ readonly kind: 'browse' } & BrowseRequest)
  | { readonly kind: 'get' | 'redrive' | 'discard' | 'forget' | 'lookup'; readonly key: string }
  /** Reads keys beyond one, in their order. */
  | { readonly kind: 'keys'; readonly after: string; readonly limit: number }
  | { readonly kind: 'erase'; readonly key: string }
  | { readonly kind: 'discard-older'; readonly failedBefore: number; readonly limit: number }
  | { readonly kind: 'redrive-many' | 'discard-many'; readonly keys: readonly string[] }
  /** Renews one lease, and answers whether it still holds. */
  | { readonly kind: 'renew'; readonly lease: Lease; readonly leaseMs: number }
  | { readonly kind: 'publish'; readonly own: PublishedHandlers }
  /** A figure: whatever fails is done again without it. */
  | { readonly kind: 'add-activity'; readonly slots: readonly CountedSlot[] }
  | { readonly kind: 'activity'; readonly query: ActivityQuery }

/** Parsed cursor at which the last page ended. */
export interface Position {
  readonly seq: number
  /** Time of death of a dead letter. */
  readonly failedAt: number
}

/** Last letter of a piece, in order of groups. */
export interface GroupPosition extends Position {
  readonly group: string
}

/** A piece of the letters, counted by group. */
export interface CountedPiece {
  readonly counts: readonly {
    readonly group: string
    readonly count: number
    readonly firstFailedAt: number
    readonly lastFailedAt: number
  }[]
  /** Absent at the end. */
  readonly next?: GroupPosition | undefined
}

export interface ListRequest {
  readonly limit: number
  /** Limit for the total size of the bodies. */
  readonly bytes: number
  /** Limit for the body of the first letter, which may be larger than `bytes`. */
  readonly maxBytes: number
  readonly order: 'newest' | 'oldest'
  readonly after?: Position
  readonly group?: string
}

export interface BrowseRequest {
  readonly state: BrowseState
  readonly key?: string
  readonly limit: number
  readonly after?: Position
}

/** What a batch may take. */
export interface TakeLimits {
  /** Number of rows that may be taken. */
  readonly take: number
  /** Number of rows that may be read ahead behind each taken row of an ordering key. */
  readonly readAhead: number
}

/** The storage requests of one event-loop turn. */
export interface Batch extends TakeLimits {
  readonly arrivals: readonly Arrival[]
  /** Number of the first arrival; the others have the next ones. No two deliveries have the same, not even of one event. */
  readonly firstRef: number
  readonly settlements: readonly Settlement[]
  /** Leases that this process believes it holds: they are checked, and renewed from now on. */
  readonly checks: readonly Lease[]
  readonly queries: readonly Query[]
}
