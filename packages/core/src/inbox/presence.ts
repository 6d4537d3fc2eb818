import type { AckhookError } from '../errors/errors.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Patterns that one process handles, published for the other processes on its inbox. */
export interface PublishedHandlers {
  /** Unique to each receiver of each process. */
  readonly id: string
  /** Host and process id, for people. Empty if the platform has neither. */
  readonly process: string
  /** The version of `@ackhook/core`. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The types, categories and `'*'` that have a handler. */
  readonly patterns: readonly string[]
  /** True if a handler exists for events that no pattern matches. */
  readonly onUnhandled: boolean
  /** Milliseconds after its last renewal for which an inbox keeps this, also when the process has ended. */
  readonly keepMs: number
}

/** Publication of a process, for as long as the inbox keeps it. */
export interface InboxProcess extends PublishedHandlers {
  /** Milliseconds since it was last renewed. A process that runs renews it every 10 seconds or more often. */
  readonly seenMs: number
}

/** Board on which the processes of one inbox publish their patterns. The inbox stores them unread. */
export interface PresenceStore {
  /** Stores or renews one publication, known by its id. By the inbox's own clock it is kept for `keepMs` from now on. */
  publish(own: PublishedHandlers): MaybePromise<void>
  /** Reads the current publications, never an older copy. Called twice a second, and has about a second to settle. */
  read(): MaybePromise<PresenceView>
}

/** The board at one moment. */
export interface PresenceView {
  /** Every publication that is kept, the reader's own included. */
  readonly processes: readonly InboxProcess[]
  /** Events of all processes that wait after a result `postponed`. The count may be a second old. */
  readonly postponed: number
}

/** Patterns of this process. An inbox that several processes work on shares them, by `shareHandlers`. */
export interface HandlerSharing {
  readonly published: PublishedHandlers
  /** Location of the inbox, and the receiver's option `namespace`, for messages. */
  readonly location?: string | undefined
  readonly namespace?: unknown
  /** Makes every attempt ask, from now on until the receiver has closed its inbox. Rejects like `begin`. */
  share(directory: PresenceDirectory): Promise<void>
}

/** View that one process has of all processes' patterns. A process that is alone on its inbox needs none. */
export interface PresenceDirectory {
  readonly board: PresenceStore
  /** Publishes and reads for the first time, then from time to time until `stop`. Rejects when the board does. */
  begin(): Promise<void>
  routeOf: RouteOf
  /**
   * Resolves when no attempt of another process can begin any more that does not know these handlers: at once where no
   * live process lacks one of them.
   */
  settled(): Promise<void>
  /** The inbox begins to close: a failure to publish or read from now on is no outage. */
  beginClose(): void
  stop(): void
}

/** Returns the route of an event that must not run here. `undefined`, without waiting, in the ordinary case. */
export type RouteOf = (type: string, routingToken: number) => MaybePromise<Route | undefined>

/** Route of an event that is not handled here. */
export type Route =
  | Postponed
  | { readonly outcome: 'dead'; readonly error: AckhookError; readonly routingToken: number }

/**
 * Another process has the more specific handler: the event waits for `delayMs` and is pending meanwhile. It was no
 * attempt: the next one has the same number, and an event with a `serializeBy` key keeps its turn. The inbox keeps
 * `routingToken` with the event until it is completed or discarded, over retries and redrives as well. Only if it called `shareHandlers`.
 */
export interface Postponed {
  readonly outcome: 'postponed'
  readonly delayMs: number
  /** Opaque: core reads it in the next attempt. */
  readonly routingToken: number
}
