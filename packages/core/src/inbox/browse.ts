import type { TraceContext } from './trace-context.ts'

/** Filters for browsing an inbox. They combine. */
export interface BrowseQuery {
  readonly state: BrowseState
  /** Only the event with this key, `eventKey(namespace, id)`. Every inbox supports this filter. */
  readonly key?: string
  /** Events of this type, or of a category as in `on`. Only if {@link BrowseSupport} lists the filter. */
  readonly type?: string
  /**
   * Events whose id, type or namespace contains this text, ignoring case. Only if {@link BrowseSupport} lists the
   * filter.
   */
  readonly text?: string
  /** The `cursor` of the previous page's last event. */
  readonly after?: string | undefined
  /** Default 100. */
  readonly limit?: number
}

/** `pending`: waits for its first or next attempt. `active`: its handlers run. `dead`: a dead letter. */
export type BrowseState = 'pending' | 'active' | 'dead'

/** States and filters that an inbox finds by an index or in memory. Pages offer only these. */
export interface BrowseSupport {
  readonly states: readonly BrowseState[]
  readonly filters: readonly ('type' | 'text')[]
}

/** Event as listed on a page. */
export interface BrowsedEvent {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  /** Set only if the query has a `key`: a page of bodies could be large. */
  readonly body?: Uint8Array
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /** Attempts begun. */
  readonly attempts: number
  /** Milliseconds until the next attempt may begin, if that time is known. */
  readonly dueInMs?: number
  /** Error of a dead letter, or of the last attempt if the inbox keeps it, as `name: message`. */
  readonly reason?: string
  /** Time of death of a dead letter, in milliseconds since the epoch. */
  readonly failedAt?: number
  /** The trace that the request belonged to, if the inbox returns it. A page without bodies may omit it. */
  readonly trace?: TraceContext
  /** Position of this event in the list, for `after`. Meaningful only to this inbox. */
  readonly cursor: string
}

/** What an inbox knows about one event. */
export type EventLookup =
  /** `event` has its body. Absent if another process has the event in its memory, or its engine has just moved it. */
  | { readonly state: 'pending' | 'active' | 'dead'; readonly event?: BrowsedEvent }
  | {
      /** All handlers resolved. Only the id is kept, so neither type nor body is known. */
      readonly state: 'handled'
      /** Milliseconds since the epoch. Absent if the inbox cannot tell. */
      readonly handledAt?: number
      /** Time until which the id is remembered, in milliseconds since the epoch. */
      readonly rememberedUntil?: number
    }
  /** Never received, discarded, or handled so long ago that its id is no longer remembered. */
  | { readonly state: 'unknown' }

/** Counts for one minute, across all processes of the inbox. */
export interface MinuteCount {
  /** Start of the minute, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Events accepted or redriven. Absent if the inbox does not count them. */
  readonly received?: number
  /** Events whose handlers all resolved. */
  readonly handled: number
  /** Events that became dead letters. */
  readonly deadLettered: number
}
