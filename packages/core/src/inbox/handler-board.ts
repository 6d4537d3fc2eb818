import type { MaybePromise } from '../lib/maybe-promise.ts'

/** What one process handles, for the other processes on its inbox. */
export interface PublishedHandlers {
  /** Another one for each receiver of each process. */
  readonly id: string
  /** Host and process id, for people. Empty where the platform has neither. */
  readonly process: string
  /** The version of `@ackhook/core`. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** The types, categories and `'*'` that have a handler. */
  readonly patterns: readonly string[]
  /** Whether there is a handler for events that no pattern matches. */
  readonly onUnhandled: boolean
  /** Milliseconds after its last renewal for which an inbox keeps this, also when the process has ended. */
  readonly keepMs: number
}

/** What a process published, for as long as the inbox keeps it. */
export interface InboxProcess extends PublishedHandlers {
  /** Milliseconds since it was last renewed. A process that runs renews it every 10 seconds or more often. */
  readonly seenMs: number
}

/** Where the processes on one inbox publish what they handle. The inbox stores this and does not look into it. */
export interface HandlerBoard {
  /** Stores or renews one publication, known by its id. By the inbox's own clock it is kept for `keepMs` from now on. */
  publish(own: PublishedHandlers): MaybePromise<void>
  /** What is stored now, and not a copy that may be older. Called twice a second, and has about a second to settle. */
  read(): MaybePromise<BoardView>
}

/** The board at one moment. */
export interface BoardView {
  /** Every publication that is kept, the own one included. */
  readonly processes: readonly InboxProcess[]
  /** Events of all processes that wait after a verdict `postponed`. The count may be a second old. */
  readonly postponed: number
}

/** How an inbox that several processes can work on takes part in what they tell each other. */
export interface HandlerSharing {
  readonly own: PublishedHandlers
  /**
   * To be awaited in `start`, once the engine can be used and before the first event is taken: publishes the own
   * handlers and reads those of the others. From then on, until `close` has settled, core renews and reads by itself.
   * Rejects when the board does, and may then be called again.
   */
  share(board: HandlerBoard): Promise<void>
}
