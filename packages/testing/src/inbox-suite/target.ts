import type { Inbox, MaybePromise } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** What an inbox promises beyond the common part. The suite runs the cases that belong to it. */
export interface InboxCapabilities {
  /**
   * Accepted events survive the process, and several processes may work on the same events. They share what they handle.
   */
  readonly durable: boolean
  /** Runs events of one `order.key` one at a time. */
  readonly serialize: boolean
  /** Forgets a handled id within seconds of the end of its retention. */
  readonly forgets: boolean
  /** Lists events by their state (`browse`). */
  readonly browse?: boolean | undefined
  /** Counts what came and ended by minute, what came included (`throughput`). */
  readonly counts?: boolean | undefined
}

/** Where the events of one case live: a file, a queue, a process. Nothing is in it at first. */
export interface InboxTarget extends Closable {
  /**
   * An inbox on the events of this case, as one process would make it. A durable inbox is asked for several: the next
   * process, or one that runs at the same time. The suite closes each of them.
   */
  createInbox(): MaybePromise<Inbox>
}

export interface InboxCase extends TargetCase<InboxTarget> {
  /** The capabilities that the case tests. */
  readonly needs: readonly (keyof InboxCapabilities)[]
}
