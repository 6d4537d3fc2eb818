/**
 * Messages between the dashboard's API and its clients, such as the pages, as JSON. Paths are relative to where
 * the dashboard is mounted; times are milliseconds since the epoch.
 *
 * @module
 */

/** The person's rights. */
export type Role = 'admin' | 'read'

/** `GET api/overview` */
export interface Overview {
  /** The time on the server. */
  readonly now: number
  readonly role: Role
  readonly stats: Stats
  /** Per minute over the last hour, oldest first. Absent if the inbox keeps no counters. */
  readonly throughput?: readonly Minute[]
  /** Processes that take events from this inbox. Absent if the inbox does not record them. */
  readonly processes?: readonly LiveProcess[]
  /** Observations of this process. Absent in the standalone page. */
  readonly here?: Here
  readonly browsing: Browsing
}

export interface Stats {
  readonly pending: number
  readonly active: number
  readonly dead: number
  readonly oldestPendingMs: number
  /** Last error of an event waiting for another attempt, redacted. */
  readonly waitingError?: string
  /** Handling of all events is paused: they are accepted, and wait. */
  readonly paused?: true
  /** Types whose handling alone is paused. */
  readonly pausedTypes?: readonly string[]
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
  /** Milliseconds since the process last renewed its entry. Over 30,000 means that it has probably ended. */
  readonly seenMs: number
}

export interface Here {
  /** Newest first: at most 100 of refused requests, and 500 others. */
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

/** Requests refused for one reason since the process started. */
export interface RefusalCount {
  readonly code: string
  readonly status: number
  readonly count: number
  readonly lastAt: number
  readonly detail?: string
}

/** Queries that the inbox supports. Ids and namespaces can always be searched for. */
export interface Browsing {
  /** States besides dead letters, which every inbox lists. */
  readonly states: readonly ('pending' | 'active')[]
  readonly filters: readonly ('type' | 'text')[]
}

/**
 * `GET api/events?state=pending|active&…` and `GET api/letters?…`. Parameters: the filters of {@link LetterFilter}, except
 * `failedBy`; `after` and `limit` (200 at most). Letters also support `order=oldest`, without filters. A filter that the
 * inbox cannot serve is refused, never ignored: `text`, and `type` of `api/events`, unless {@link Browsing} lists them;
 * `error`, `reason` and `group` of `api/events`. A page may be empty without being the last.
 */
/** One page. `GET api/letters/{key}` returns a single {@link EventRow} with its body. */
export interface EventPage {
  readonly events: readonly EventRow[]
  /** Send it as `after` for the next page. Absent on the last page. */
  readonly next?: string
}

export interface EventRow {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly receivedAt: number
  readonly attempts: number
  /** Time at which a dead letter failed. */
  readonly failedAt?: number
  readonly reason?: string
  /** Milliseconds until the next attempt, if the inbox reports it. */
  readonly dueInMs?: number
  /**
   * Stack of the last error, redacted. Present in a whole letter only, and only for the last 200 letters that died in
   * this process: inboxes keep no stacks.
   */
  readonly stack?: string
  /** The body as text, redacted. Present in a whole letter only, unless bodies are hidden. */
  readonly body?: string
}

/** `GET api/letters/groups`: the hundred largest groups, the largest first. */
export interface GroupList {
  readonly groups: readonly LetterGroup[]
  /** Letters counted, also those of groups that are not listed. */
  readonly counted: number
  /** Set if older letters were not counted, because the inbox has no index for groups. */
  readonly isPartial?: true
}

/**
 * Dead letters of one event type whose last errors have the same class and, apart from ids, numbers, quoted text and
 * addresses, the same message.
 */
export interface LetterGroup {
  /** For the filter `group`. */
  readonly group: string
  readonly type: string
  readonly count: number
  readonly firstFailedAt: number
  readonly lastFailedAt: number
  /** The letter that failed last: its event, and its error, redacted. */
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly reason: string
  /** Stack of an error of this group, redacted, if the inbox or this process has kept one. */
  readonly stack?: string
}

/**
 * `GET api/events/{key}`: an event's current state. `unknown`: never received, discarded, or no longer remembered. An inbox
 * that cannot look an event up tells `gone` for handled ones too, or `unclear` if it only knows that there is no dead
 * letter.
 */
export interface Whereabouts {
  readonly state: 'handled' | 'pending' | 'active' | 'dead' | 'unknown' | 'gone' | 'unclear'
  /** When it was handled, if the inbox can tell. */
  readonly handledAt?: number
  /** Time until which the id of a handled event is remembered. */
  readonly rememberedUntil?: number
  /** Group of a dead letter. */
  readonly group?: string
}

/** `POST api/events/states` with at most 200 `keys`: where these events are, by key. */
export interface StatesRequest {
  readonly keys: readonly string[]
}

export interface EventStates {
  readonly states: Readonly<Record<string, Whereabouts>>
}

/**
 * `GET api/find?q=…`, with an optional `namespace` for the exact id: where the event with this id is, and the events that
 * wait or are dead whose id, namespace, or a whole text or number in the body is this. The body of a handled event is gone.
 */
export interface Finding {
  readonly exact: Whereabouts & { readonly key: string }
  /** At most 50. */
  readonly found: readonly FoundEvent[]
  /** Dead letters, and other events, whose bodies were read. */
  readonly letters: number
  readonly waiting: number
  /** Set if there may be more. */
  readonly isPartial?: true
}

export interface FoundEvent extends EventRow {
  readonly state: 'pending' | 'active' | 'dead'
}

/** `POST api/letters/redrive` and `POST api/letters/discard`: letters by key, or a page of matching letters. */
export type ChangeRequest =
  | { readonly keys: readonly string[] }
  | { readonly matching: LetterFilter; readonly after?: string; readonly dryRun?: boolean }

/** Filters combine. The same ones select what a list shows, what `dryRun` counts, and what a change changes. */
export interface LetterFilter {
  /** A type, a category such as `conversation.*`, or `*`. */
  readonly type?: string
  /** The class of the last error: `TypeError`. */
  readonly error?: string
  /** Part of the last error as shown, ignoring case. */
  readonly reason?: string
  /** Only letters of this group. */
  readonly group?: string
  /** Part of the id, type or namespace. */
  readonly text?: string
  readonly id?: string
  /** The whole name; empty for events outside any namespace. */
  readonly namespace?: string
  /** Only letters that failed at or before this time. */
  readonly failedBy?: number
}

export interface ChangeReport {
  /** Letters redriven or discarded; with `dryRun`, letters that match. */
  readonly changed: number
  /** Letters that existed when the page was read, but could not be changed. */
  readonly missed: number
  /** Keys of the letters redriven or discarded. Absent with `dryRun`. */
  readonly keys?: readonly string[]
  /** Present if letters remain. Send it as `after` to continue. */
  readonly next?: string
}

/** The body of every reply that is not 2xx. */
export interface Problem {
  readonly error: string
  readonly message: string
}

/** A reply that is not 2xx. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly error: string

  constructor(status: number, error: string, message: string) {
    super(message)
    this.status = status
    this.error = error
  }

  toReply(): Response {
    const { status, error, message } = this
    return Response.json({ error, message } satisfies Problem, { status })
  }
}
