/**
 * Messages between the dashboard's API and its clients, such as the pages, as JSON. Paths are relative to where
 * the dashboard is mounted; times are milliseconds since the epoch.
 *
 * @module
 */

/** Rights of the person. */
export type Role = 'admin' | 'read'

/** `GET api/overview` */
export interface Overview {
  /** The time on the server. */
  readonly now: number
  readonly role: Role
  readonly stats: Stats
  /** Per minute over the last hour, oldest first. Absent where the inbox keeps no counters. */
  readonly throughput?: readonly Minute[]
  /** Processes that take events from this inbox. Absent where the inbox does not know. */
  readonly processes?: readonly LiveProcess[]
  /** Observations of this process alone. Absent in the standalone page. */
  readonly here?: Here
  readonly browsing: Browsing
}

export interface Stats {
  readonly pending: number
  readonly active: number
  readonly dead: number
  readonly oldestPendingMs: number
  /** Last error of an event that waits for another attempt, redacted. */
  readonly waitingError?: string
}

export interface Minute {
  /** Start of the minute. */
  readonly at: number
  /** Accepted or redriven. Absent if the inbox does not count them. */
  readonly received?: number
  readonly handled: number
  /** Events that became dead letters. */
  readonly deadLettered: number
}

export interface LiveProcess {
  readonly id: string
  /** Host and process id. */
  readonly process: string
  readonly version: string
  readonly startedAt: number
  readonly patterns: readonly string[]
  readonly onUnhandled: boolean
  /** Milliseconds since it last renewed its entry. Over 30,000: it has probably ended. */
  readonly seenMs: number
}

export interface Here {
  /** The newest first: of refused requests 100 at most, of the others 500. */
  readonly observations: readonly ObservationLine[]
  readonly refusals: readonly RefusalCount[]
}

/** One observation, without payload, headers or secrets. */
export interface ObservationLine {
  readonly seq: number
  readonly at: number
  readonly kind: string
  readonly id?: string
  readonly type?: string
  readonly namespace?: string
  readonly attempt?: number
  readonly durationMs?: number
  readonly detail?: string
}

/** Why requests were refused since the process started. */
export interface RefusalCount {
  readonly code: string
  readonly status: number
  readonly count: number
  readonly lastAt: number
  readonly detail?: string
}

/** Queries that the inbox supports. An event is always found by its id and namespace. */
export interface Browsing {
  /** States besides dead letters, which every inbox lists. */
  readonly states: readonly ('pending' | 'active')[]
  readonly filters: readonly ('type' | 'text')[]
}

/**
 * `GET api/events?state=pending|active&…` and `GET api/letters?…`, with `text`, and of `api/events` also `type`, where {@link Browsing}
 * names them, `type` and `error` of letters everywhere, `id` and `namespace` for one event, `after` and `limit` (200 at most). Letters take `order=oldest`, without filters.
 */
/** One page. `GET api/letters/{key}` answers a single {@link EventRow} with its body. */
export interface EventPage {
  readonly events: readonly EventRow[]
  /** Give it as `after` for the next page. Absent on the last. */
  readonly next?: string
}

export interface EventRow {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly receivedAt: number
  readonly attempts: number
  /** Time of death of a dead letter. */
  readonly failedAt?: number
  readonly reason?: string
  /** Milliseconds until its next attempt, where the inbox knows. */
  readonly dueInMs?: number
  /**
   * Present in a whole letter only: where its last error was thrown, redacted. Inboxes keep none, so it is there for the last
   * 200 letters that died in this process.
   */
  readonly stack?: string
  /** Present in a whole letter only: as text, redacted. Absent when bodies are hidden. */
  readonly body?: string
}

/** `GET api/letters/groups`, and the same with `after` while there is a `next`: the counts of one error add up. */
export interface GroupPage {
  readonly groups: readonly LetterGroup[]
  readonly next?: string
}

/** Dead letters whose last errors are of one class. */
export interface LetterGroup {
  /** Its name. Empty: the errors have none. */
  readonly error: string
  /** The newest of their reasons, redacted. */
  readonly reason: string
  readonly count: number
  readonly types: readonly string[]
}

/**
 * `GET api/events/{key}`: where an event is now. `gone`: handled, discarded or never here. `unknown`: no dead letter, and
 * the inbox finds no others.
 */
export interface Whereabouts {
  readonly state: 'pending' | 'active' | 'dead' | 'gone' | 'unknown'
}

/** `POST api/letters/redrive` and `POST api/letters/discard`: some by key, or a page of all that match. */
export type ChangeRequest =
  | { readonly keys: readonly string[] }
  | { readonly matching: LetterFilter; readonly after?: string; readonly dryRun?: boolean }

/** Same as the query of `GET api/letters`. */
export interface LetterFilter {
  /** A type, a category such as `conversation.*`, or `*`. */
  readonly type?: string
  /** The class of the last error: `TypeError`. */
  readonly error?: string
  readonly text?: string
  readonly id?: string
  readonly namespace?: string
  /** Only letters that failed at or before this time. */
  readonly failedBy?: number
}

export interface ChangeReport {
  /** Redriven or discarded; with `dryRun`, how many match. */
  readonly changed: number
  /** Were there when the page was read, and could not be changed. */
  readonly missed: number
  /** More letters are left to look at. Give it as `after` to go on. */
  readonly next?: string
}

/** The body of every reply that is not 2xx. */
export interface Problem {
  readonly error: string
  readonly message: string
}
