/** Filters for browsing an inbox. They combine. */
export interface BrowseQuery {
  readonly state: BrowseState
  /** The one event with this key, which every inbox can find: `eventKey(namespace, id)`. */
  readonly key?: string
  /** Events of this type, or of a category as in `on`. Only if {@link BrowseSupport} names the filter. */
  readonly type?: string
  /** Events whose id, type or namespace holds this text, in either case. Only if {@link BrowseSupport} names it. */
  readonly text?: string
  /** The `cursor` of the last event of the page before. */
  readonly after?: string | undefined
  /** Default 100. */
  readonly limit?: number
}

/** `pending`: waits for its first or next attempt. `active`: its handlers run. `dead`: a dead letter. */
export type BrowseState = 'pending' | 'active' | 'dead'

/** States and filters that an inbox finds by an index or in memory. A page offers only these. */
export interface BrowseSupport {
  readonly states: readonly BrowseState[]
  readonly filters: readonly ('type' | 'text')[]
}

/** One event as a page lists it. */
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
  /** Milliseconds until the next attempt may begin, if it waits for a time that is known. */
  readonly dueInMs?: number
  /** Error of a dead letter, or of the last attempt if the inbox keeps it, as `name: message`. */
  readonly reason?: string
  /** Time of death of a dead letter, in milliseconds since the epoch. */
  readonly failedAt?: number
  /** The place of this event in the list, for `after`. Means nothing else, and nothing to another inbox. */
  readonly cursor: string
}

/** Counts of one minute, over all processes on the inbox. */
export interface MinuteCount {
  /** Start of the minute, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Events that began to wait: accepted, or redriven. Absent if the inbox does not count them. */
  readonly received?: number
  /** Events whose handlers all resolved. */
  readonly handled: number
  /** Events that became dead letters. */
  readonly deadLettered: number
}
