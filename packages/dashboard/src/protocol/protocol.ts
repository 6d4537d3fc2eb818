/**
 * Messages between the dashboard's API and its clients, such as the pages, as JSON. Paths are relative to where
 * the dashboard is mounted; times are milliseconds since the epoch.
 *
 * @module
 */

import type { Outcome as Fates } from './outcome.ts'
import type { ActionWords, FieldView, Outcome, VerbAbout } from './verbs.ts'
import type { Words } from './words.ts'

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
  /** Bodies are shown, and so are their fields in lists. */
  readonly bodies: boolean
  /** Address of a trace, with `{traceId}` for its id. Absent without the option. */
  readonly traceUrl?: string
  /** Address of the emulator's page, if it is set. */
  readonly emulatorUrl?: string
}

/** Span of time that figures cover. */
export type Window = '1h' | '24h' | '7d'

/**
 * `GET api/activity?window=1h` (default), `24h` or `7d`: whether all is well now, and figures of all processes. Replies
 * with 200 while the inbox is down too: then there is only the verdict.
 */
export interface ActivityReport {
  /** The time on the server. */
  readonly now: number
  readonly window: Window
  readonly verdict: Verdict
  /** What waits and runs now. Absent while the inbox does not respond. */
  readonly waiting?: Waiting
  /** Absent if the inbox keeps none, or does not respond. */
  readonly figures?: ActivityFigures
  /** Why the inbox keeps no figures. */
  readonly cannotKeep?: string
}

/**
 * `outage`: the inbox or its store fails. `paused`: somebody paused handling, of all types or of some.
 * `never_started`: nobody has started this process's receiver, and no other process handles events. `no_worker`: events
 * wait, and no process handles them. `failing_all`, `failing_types`: attempts at events of every type fail, or of some.
 * `behind`: events that could run have waited for a minute. `silent`: deliveries are missing for longer than
 * `expectEvery` allows. `idle`: nothing happened in the last hour.
 */
export type VerdictState =
  | 'outage'
  | 'paused'
  | 'never_started'
  | 'no_worker'
  | 'failing_all'
  | 'failing_types'
  | 'behind'
  | 'silent'
  | 'idle'
  | 'fine'

/** Whether all is well, in one sentence. */
export interface Verdict {
  readonly state: VerdictState
  readonly tone: 'good' | 'wait' | 'bad' | 'idle'
  /** Plain text that stands alone. */
  readonly sentence: string
  /** Plain text: an error, redacted, or what to do. */
  readonly cause?: string
  /** Where to look. */
  readonly where?: Place
}

/** A list of the page, perhaps of one type only. */
export interface Place {
  readonly list: 'letters' | 'pending' | 'active' | 'processes' | 'refusals'
  readonly type?: string
}

export interface Waiting {
  readonly pending: number
  readonly active: number
  readonly dead: number
  /** Age of the oldest event that is not handled, `0` if there is none. */
  readonly oldestMs: number
  /** Age of the oldest event that could run and never has. Absent if the inbox does not tell. */
  readonly oldestUntriedMs?: number
  /** Events that wait for another attempt. Absent if the inbox does not tell. */
  readonly retrying?: number
}

export interface ActivityFigures {
  /** Start of the first slot. */
  readonly since: number
  /** Length of a slot in milliseconds. */
  readonly slotMs: number
  readonly total: Figures
  /** Twenty at most, the busiest first. The last one may lack a type: it has all others. */
  readonly types: readonly (Figures & { readonly type?: string })[]
  /** One for each slot, without gaps, the oldest first; at most 60. The last one is under way. */
  readonly series: readonly ActivityPoint[]
}

export interface ActivityPoint extends Figures {
  /** Start of the slot. */
  readonly at: number
}

export interface Figures {
  /** Events accepted. Redrives do not count. */
  readonly accepted: number
  /** Attempts that succeeded. */
  readonly handled: number
  /** Attempts that failed. */
  readonly failed: number
  /** Failed attempts that another one follows. */
  readonly retried: number
  /** Events that became dead letters. */
  readonly deadLettered: number
  /** `failed` as a share of all attempts that ended, 0 to 1. Absent if none has. */
  readonly failedShare?: number
  /** From acceptance, or a redrive, to the beginning of the first attempt. Absent without one. */
  readonly lag?: Percentiles
  /** From the beginning of an attempt to its end. Absent without one. */
  readonly handlerTime?: Percentiles
}

/** Milliseconds, each at most 9 % from the exact one; `0.5` means less than 1. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
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
 * `GET api/events?state=pending|active&…` and `GET api/letters?…`. Parameters: the filters of {@link LetterFilter},
 * `failedBy` for letters only; `after` and `limit` (200 at most). Letters also support `order=oldest`, without filters. A filter that the
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
  /** Group of a dead letter, for the filter `group`. */
  readonly group?: string
  /** Milliseconds until the next attempt, if the inbox reports it. */
  readonly dueInMs?: number
  /**
   * Id of the trace that the request belonged to: 32 hexadecimal digits. Present for a single event, and in lists if the
   * inbox returns it there.
   */
  readonly traceId?: string
  /** Set if the inbox stores it sealed, and this process has not the key: neither body nor error can be read. */
  readonly sealed?: true
  /**
   * Stack of the last error, redacted. Present in a whole letter only, and only for the last 200 letters that died in
   * this process: inboxes keep no stacks.
   */
  readonly stack?: string
  /** The body as text, redacted. Present in a whole letter only, unless bodies are hidden or it is sealed. */
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

/** `GET api/letters/times`: when the newest letters of each group failed. */
export interface LetterTimes {
  /** When the first of these letters failed, and the last. */
  readonly from: number
  readonly to: number
  /** Number of letters in 24 equal parts of that time, by {@link LetterGroup.group}. Absent: none of them is among these letters. */
  readonly groups: Readonly<Record<string, readonly number[]>>
  /** Set if older letters were not read: at most 2,000 are, or 200 with their bodies. */
  readonly isPartial?: true
}

/** `POST api/events/fields`: one field of the bodies of waiting, running and dead events. */
export interface FieldsRequest {
  /** At most 200. */
  readonly keys: readonly string[]
  /** Name of a field of the event's data, or of the event: `conversation_id`. With dots for nested ones. */
  readonly name: string
}

export interface FieldValues {
  /** By key, redacted and shortened. Absent: the event has no such text, number or boolean, or bodies are hidden. */
  readonly values: Readonly<Record<string, string>>
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
  /** Group of a dead letter, or of an event that failed and waits for another attempt. */
  readonly group?: string
  /** An attempt has failed since the event was accepted or redriven, and another follows. */
  readonly isRetrying?: true
  /** As in {@link EventRow}, of an event that waits, runs or is dead. */
  readonly traceId?: string
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

/** Filters combine. The same ones select what a list shows, what `dryRun` counts, and what a change changes. */
export interface LetterFilter {
  /** A type, a category such as `conversation.*`, or `*`. */
  readonly type?: string | undefined
  /** The class of the last error: `TypeError`. */
  readonly error?: string | undefined
  /** Part of the last error as shown, ignoring case. */
  readonly reason?: string | undefined
  /** Only letters of this group. */
  readonly group?: string | undefined
  /** Part of the id, type or namespace. */
  readonly text?: string | undefined
  readonly id?: string | undefined
  /** The whole name; empty for events outside any namespace. */
  readonly namespace?: string | undefined
  /** Only letters that failed at or before this time. */
  readonly failedBy?: number | undefined
}

/** `GET api/verbs`: what the caller may do with the inbox. */
export interface VerbList {
  readonly verbs: readonly VerbView[]
}

/** A verb, as a page shows it. */
export interface VerbView extends Omit<VerbAbout, 'readsBodies'> {
  readonly fields: readonly FieldView[]
  /** It asks before, by `POST api/verbs/{name}/plan`. */
  readonly asks?: true
}

/** `POST api/verbs/{name}/plan` with the verb's arguments: what it would do. */
export interface VerbPlan {
  /** What to ask a person. Absent: nothing has to be asked. */
  readonly question?: Words
  /** Arguments that do what the question says. */
  readonly args: object
}

/**
 * `POST api/verbs/{name}` with the verb's arguments: {@link VerbReply}, or a {@link Batch} for one that may take minutes. It runs
 * in the process that serves the dashboard, whoever looks on.
 */
export type VerbReply = Outcome

/** `GET api/batches`: the batches of the process that replies, newest first. `POST api/batches/{id}/stop` stops one. */
export interface BatchList {
  /** Differs for each process, and after each restart. */
  readonly process: string
  /** Those that run, and the last that have ended. */
  readonly batches: readonly Batch[]
}

/** A verb that takes its time. */
export interface Batch {
  readonly id: string
  /** {@link BatchList.process} of the process that runs it. */
  readonly process: string
  readonly verb: string
  readonly words: ActionWords
  readonly startedAt: number
  /** The person, if `authorize` gave a name. */
  readonly by?: string
  readonly total?: number
  /** Events changed so far. */
  readonly changed: number
  /** Events that could not be changed: no longer there, or the inbox is full. */
  readonly missed: number
  /** `changing`: more events follow. `following`: redriven events have not ended. */
  readonly state: 'changing' | 'following' | 'over'
  readonly isStopped?: true
  /** Why it waits, or why it ended early. */
  readonly error?: string
  /** What became of redriven events. */
  readonly fates?: Fates
  /** Its result, once it is over. */
  readonly outcome?: Outcome
}

/** `GET api/handling`: the pauses in force. */
export interface Handling {
  /** The pause of all types has no type, and comes first. */
  readonly paused: readonly { readonly type?: string; readonly since: number }[]
  /** Why handling cannot be paused, or why a single type cannot. */
  readonly cannotPause?: string
  readonly cannotPauseTypes?: string
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
