import type { Duration } from '../errors/parse-duration.ts'
import type { AnyEvent, EventFor, EventHandler, EventPattern, KnownEvents } from '../events/event-types.ts'
import type { WebhookReply, WebhookRequest } from '../http/request.ts'
import type { DeadLetter, DrainReport, InboxStats, ListOptions } from '../inbox/inbox.ts'
import type { Observer } from '../observe/observation.ts'
import type { FailureHandler } from '../worker/failure.ts'

/** Receives webhooks: proves, remembers, acknowledges and handles them. */
export interface Receiver<Events = KnownEvents<Record<never, never>>, Context = unknown> {
  /**
   * Runs `handler` for events of `type`: a type, a list of them, a category (`'conversation.*'`) or `'*'`. Once for
   * an event, even if several patterns of one list match it; each further call of `on` runs its handler again.
   * Several handlers for one type all run; when one fails, all of them run again at the next attempt.
   * Throws an `AckhookError` with code `registry_frozen` once processing has started, as the next three do.
   */
  on<const Pattern extends EventPattern<Events>>(
    type: Pattern | readonly Pattern[],
    handler: EventHandler<EventFor<Events, Pattern>>,
  ): this
  /** Runs `handler` for events that no other handler matched. They were acknowledged like any other. */
  onUnhandled(handler: EventHandler<AnyEvent<Events>>): this
  /** One attempt failed; another follows. */
  onError(handler: FailureHandler<AnyEvent<Events>>): this
  /**
   * No attempt follows: they are used up, a handler threw `NonRetryableError`, a drain of the memory inbox leaves no
   * time for the next one, the process died in every recent attempt, or on Workers the request is gone. May be
   * called more than once for an event: again when the process died, or its drain ended, during the call. Events that a
   * drain reports as `lost` may miss it.
   */
  onDeadLetter(handler: FailureHandler<AnyEvent<Events>>): this
  /** Turns a raw request into the reply to write. Never rejects. */
  handle(request: WebhookRequest<Context>): Promise<WebhookReply>
  /**
   * Begins processing and freezes the handlers. The first request starts it too, and waits for it for a second at
   * most; with a durable inbox call it at boot, so that events left from the last run are processed, and a broken
   * inbox is seen at once.
   * Rejects with `draining` after `close()`.
   */
  start(): Promise<void>
  /**
   * Drains, for `timeout` at most (default `'10s'`): from now on requests get 503 with `Retry-After`, and running
   * events finish. A durable inbox keeps those that wait. The memory inbox runs them: an event that waits for a retry
   * gets one attempt at once, and later ones as `retry` says, if they begin in time. `onDeadLetter` gets an event
   * that fails too late for another attempt; events that still run or wait at the end are `lost`. Call it on SIGTERM,
   * before the server closes. A second call answers the drain of the first. Rejects with `ConfigurationError` if
   * `timeout` is no duration from 0 to 1 hour.
   */
  close(options?: { readonly timeout?: Duration | undefined }): Promise<DrainReport>
  /** Counts of the inbox: of this process, or of all that share a durable one. Rejects if that does not answer. */
  stats(): Promise<InboxStats>
  /**
   * Calls `observer` with every observation from now on, in addition to the option `observe` and under its rules. Returns a
   * function that stops it.
   */
  subscribe(observer: Observer): () => void
  /**
   * Releases the id of a handled event, so that a replay of it by its sender runs once more instead of being answered as
   * a duplicate. `false`, and no change, when the id is not remembered as handled: it is unknown, waits, runs, or is a
   * dead letter, which a replay runs again anyway.
   */
  forget(id: string, options?: InNamespace): Promise<boolean>
  /** The dead letters of this receiver, by event id. */
  readonly deadLetters: DeadLetters
}

/** Events that get no further attempt, by event id. */
export interface DeadLetters {
  /**
   * The newest first, or the oldest; 100 by default, 1,000,000 at most. The next page is `after` the `cursor` of the last
   * letter of this one.
   */
  list(options?: ListOptions): Promise<readonly DeadLetter[]>
  /** One of them, with its bytes. `undefined` when there is none. */
  get(id: string, options?: InNamespace): Promise<DeadLetter | undefined>
  /**
   * Lets it run again with a fresh count of attempts. `false`, and no change, when there is no such dead letter, or
   * nothing can run it: the memory inbox is full or closed.
   */
  redrive(id: string, options?: InNamespace): Promise<boolean>
  /** Deletes it for good. `false` when there is no such dead letter. */
  discard(id: string, options?: InNamespace): Promise<boolean>
}

/** Namespace that an id belongs to. */
export interface InNamespace {
  /** The namespace the event arrived under. Default: the empty one. */
  readonly namespace?: string | undefined
}
