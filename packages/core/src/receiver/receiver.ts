import type { Duration } from '../errors/parse-duration.ts'
import type { AnyEvent, EventFor, EventHandler, EventPattern, KnownEvents } from '../events/event-types.ts'
import type { WebhookReply, WebhookRequest } from '../http/request.ts'
import type { EventLookup } from '../inbox/browse.ts'
import type {
  DeadLetter,
  DrainReport,
  GroupOptions,
  InboxStats,
  LetterGroups,
  ListOptions,
} from '../inbox/inbox.ts'
import type { Observer } from '../observe/observation.ts'
import type { FailureHandler } from '../worker/failure.ts'
import type { IngestOptions, IngestResult } from './ingest.ts'

/** Receives webhooks: verifies, remembers, acknowledges and handles them. */
export interface Receiver<Events = KnownEvents<Record<never, never>>, Context = unknown> {
  /**
   * Runs `handler` for events of `type`: a type, a list of them, a category (`'conversation.*'`) or `'*'`. It runs once
   * per event, even if several patterns of one list match; each further call of `on` runs its handler again. All
   * handlers of one type run; if one fails, all of them run again at the next attempt. Throws an `AckhookError` with
   * code `registry_frozen` once processing has started, as the next three do.
   */
  on<const Pattern extends EventPattern<Events>>(
    type: Pattern | readonly Pattern[],
    handler: EventHandler<EventFor<Events, Pattern>>,
  ): this
  /** Runs `handler` for events that no other handler matched. They are acknowledged like any other. */
  onUnhandled(handler: EventHandler<AnyEvent<Events>>): this
  /** Runs `handler` after an attempt failed and another follows. */
  onError(handler: FailureHandler<AnyEvent<Events>>): this
  /**
   * Runs `handler` if no attempt follows: they are used up, a handler threw `NonRetryableError`, a drain of the memory
   * inbox leaves no time for the next one, the process died in every recent attempt, or, on Workers, the request
   * ended first. May run more than once for an event: again if the process died, or its drain ended, during the call. May not run
   * for events that a drain reports as `lost`.
   */
  onDeadLetter(handler: FailureHandler<AnyEvent<Events>>): this
  /** Turns a raw request into the reply to write. Never rejects. */
  handle(request: WebhookRequest<Context>): Promise<WebhookReply>
  /**
   * Offers an event that no request brought, such as one from a list call or a file after an outage: an object, or its exact
   * JSON as bytes. Envelope, `upcast`, schema, ids and inbox treat it as a delivery, but nothing is verified: the caller
   * vouches for it. A dead letter stays one. Rejects with `ConfigurationError` for wrong arguments, and never otherwise.
   *
   * @example
   * const { outcome } = await receiver.ingest(event, { source: 'list-call' })
   */
  ingest(event: object | Uint8Array, options: IngestOptions): Promise<IngestResult>
  /**
   * Begins processing and freezes the handlers. The first request also does so, and waits at most a second for the
   * inbox. With a durable inbox call it at boot, so that events left from the last run are processed, and a broken
   * inbox is noticed at once; `gracefulShutdown` calls it too. Rejects with `draining` after `close()`.
   */
  start(): Promise<void>
  /**
   * Drains, for at most `timeout` (default `'10s'`): from now on requests get 503 with `Retry-After`, and running
   * events finish. A durable inbox keeps waiting events. The memory inbox runs them: an event that waits for a retry
   * gets one attempt at once, and later ones according to `retry`, if they begin in time. An event that fails too late
   * for another attempt goes to `onDeadLetter`; events that still run or wait at the end are `lost`. Call it on
   * SIGTERM, before the server closes. A second call returns the result of the first. Rejects with `ConfigurationError`
   * if `timeout` is not a duration from 0 to 1 hour.
   */
  close(options?: { readonly timeout?: Duration | undefined }): Promise<DrainReport>
  /**
   * Counts the events in the inbox: this process's, or those of all processes that share a durable one. Rejects if the
   * inbox does not respond.
   */
  stats(): Promise<InboxStats>
  /**
   * Calls `observer` with every observation from now on, in addition to the option `observe` and under its rules.
   * Returns a function that unsubscribes it.
   */
  subscribe(observer: Observer): () => void
  /**
   * Forgets a handled event's id, so that a replay by its sender runs again instead of counting as a duplicate. With the
   * option `effects`, forgets the marks of its handlers too.
   * `false`, and no change, if the id is not remembered as handled: it is unknown, waits, runs, or is a dead letter,
   * which a replay runs again anyway.
   */
  forget(id: string, options?: InNamespace): Promise<boolean>
  /**
   * Tells where an event is: handled, and when; waiting; running; a dead letter; or unknown. Changes nothing. Rejects with
   * `ConfigurationError` if the inbox cannot tell, with the reason.
   */
  lookup(id: string, options?: InNamespace): Promise<EventLookup>
  /** The dead letters of this receiver, by event id. */
  readonly deadLetters: DeadLetters
}

/** Events that get no further attempt, by event id. */
export interface DeadLetters {
  /**
   * Lists letters, newest or oldest first; 100 by default, 1,000,000 at most. For the next page, pass the last letter's
   * `cursor` as `after`. `group` limits the list to letters of one group.
   */
  list(options?: ListOptions): Promise<readonly DeadLetter[]>
  /**
   * Counts the letters by event type and kind of error: its class, and its message without ids, numbers, quoted text and
   * addresses. The largest groups come first; 100 by default, 1,000 at most.
   */
  groups(options?: GroupOptions): Promise<LetterGroups>
  /** Returns one dead letter with its bytes, or `undefined`. */
  get(id: string, options?: InNamespace): Promise<DeadLetter | undefined>
  /**
   * Runs the event again with a fresh count of attempts. `false`, and no change, if there is no such dead letter, or if
   * the memory inbox is full or closed.
   */
  redrive(id: string, options?: InNamespace): Promise<boolean>
  /** Deletes a dead letter for good. `false` if there is none. */
  discard(id: string, options?: InNamespace): Promise<boolean>
}

/** Namespace that an id belongs to. */
export interface InNamespace {
  /** Namespace under which the event arrived. Default: the empty one. */
  readonly namespace?: string | undefined
}
