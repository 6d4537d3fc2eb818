import type { Inbox, MaybePromise } from '@ackhook/core'

/** What an inbox promises beyond the common part. The suite runs the cases that belong to it. */
export interface InboxCapabilities {
  /** Accepted events survive the process, and several processes may work on the same events. */
  readonly durable: boolean
  /** Runs events of one `order.key` one at a time. */
  readonly serialize: boolean
  /** Forgets a handled id within seconds of the end of its retention. */
  readonly forgets: boolean
}

/** Makes the inboxes of one case. Give each case a target of its own and clean up after it. */
export interface InboxTarget {
  /** An inbox with nothing in it. Called once, at the beginning of a case. */
  open(): MaybePromise<Inbox>
  /** One more inbox on what the one of `open` works on: the next process, or one beside it. */
  reopen(): MaybePromise<Inbox>
}

/** One promise of an inbox. `id` never changes its meaning. */
export interface InboxCase {
  readonly id: string
  /** The promise, as a sentence. */
  readonly name: string
  /** The capabilities without which the case has nothing to say. */
  readonly needs: readonly (keyof InboxCapabilities)[]
  /**
   * Resolves when the promise holds; rejects with a plain `Error` that says what happened instead. Takes up to
   * half a minute, mostly milliseconds. Closes every inbox it has started.
   */
  run(target: InboxTarget): Promise<void>
}
