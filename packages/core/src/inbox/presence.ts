import type { AckhookError } from '../errors/errors.ts'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/** Patterns that one process handles, published for the other processes on its inbox. */
export interface PublishedHandlers {
  /** Unique to each receiver of each process. */
  readonly id: string
  /** Host and process id, for display. Empty if the platform has neither. */
  readonly process: string
  /** The version of `@ackhook/core`. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The types, categories and `'*'` that have a handler. */
  readonly patterns: readonly string[]
  /** True if a handler exists for events that no pattern matches. */
  readonly onUnhandled: boolean
  /** Milliseconds for which an inbox keeps this after its last renewal, even if the process has ended. */
  readonly keepMs: number
}

/** Publication of a process, as kept by the inbox. */
export interface InboxProcess extends PublishedHandlers {
  /** Milliseconds since the last renewal. A running process renews it at least every 10 seconds. */
  readonly seenMs: number
}

/** Board on which the processes of one inbox publish their patterns. The inbox stores them unread. */
export interface PresenceStore {
  /**
   * Stores or renews one publication, identified by its id, and keeps it for `keepMs` from now by the inbox's own
   * clock.
   */
  publish(own: PublishedHandlers): MaybePromise<void>
  /** Reads the current publications, never an older copy. Called twice a second, and has about a second to settle. */
  read(): MaybePromise<PresenceView>
}

/** Snapshot of the board. */
export interface PresenceView {
  /** Every publication that is kept, the reader's own included. */
  readonly processes: readonly InboxProcess[]
  /** Events of all processes that wait after a `postponed` result. The count may be a second old. */
  readonly postponed: number
}

/** Patterns of this process. An inbox with several processes shares them through `shareHandlers`. */
export interface HandlerSharing {
  readonly published: PublishedHandlers
  /** Location of the inbox, and the receiver's option `namespace`, for messages. */
  readonly location?: string | undefined
  readonly namespace?: unknown
  /** Makes every attempt consult `directory` until the receiver has closed its inbox. Rejects like `begin`. */
  share(directory: PresenceDirectory): Promise<void>
}

/** One process's view of all processes' patterns. A process alone on its inbox needs none. */
export interface PresenceDirectory {
  readonly board: PresenceStore
  /** Publishes and reads for the first time, then periodically until `stop`. Rejects if the board does. */
  begin(): Promise<void>
  routeOf: RouteOf
  /**
   * Resolves once no other process can begin an attempt without knowing these handlers; at once if every live process
   * already has them.
   */
  settled(): Promise<void>
  /** Marks the inbox as closing: from now on a failure to publish or read is no outage. */
  beginClose(): void
  stop(): void
}

/** Returns the route of an event that must not run here. Usually returns `undefined`, synchronously. */
export type RouteOf = (type: string, routingToken: number) => MaybePromise<Route | undefined>

/** Route of an event that is not handled here. */
export type Route =
  | Postponed
  | { readonly outcome: 'dead'; readonly error: AckhookError; readonly routingToken: number }

/**
 * Another process has a more specific handler: the event stays pending for `delayMs`. This counts as no attempt: the
 * next one has the same number, and an event with a `serializeBy` key keeps its turn. The inbox keeps `routingToken`
 * with the event until it is completed or discarded, across retries and redrives. Only if the inbox called
 * `shareHandlers`.
 */
export interface Postponed {
  readonly outcome: 'postponed'
  readonly delayMs: number
  /** Opaque: core reads it in the next attempt. */
  readonly routingToken: number
}
