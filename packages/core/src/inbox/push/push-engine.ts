import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { InboxStats, ProcessingPolicy } from '../inbox.ts'

/** A queue that keeps messages and calls a consumer with them. It keeps bytes and does not look into them. */
export interface PushEngine {
  /** For messages: `queue 'webhooks'`. Never holds a password. */
  readonly location: string
  /** Bytes of one message at most. Read at each acceptance. */
  readonly maxBytes: number
  /** How many of them a message takes, where that is not its length. */
  sizeOf?(message: Uint8Array): number
  /** Longest delay of one publication. A longer wait takes several. */
  readonly maxDelayMs: number
  /**
   * Messages of one group come one at a time, in order. One that is retried stays where it is, because one that is
   * published again goes to the end of its group.
   */
  readonly inOrder?: boolean
  /** Resolves when the engine has confirmed that it keeps the message. */
  publish(message: Uint8Array, about: Publication): Promise<void>
  /** Keeps a message that gets no further attempt. Absent: nothing does. */
  keepDead?(message: Uint8Array, about: Publication): Promise<void>
  /** Rejects when the engine cannot work as the policy wants. */
  start?(policy: ProcessingPolicy): MaybePromise<void>
  /** Stops what calls the consumer from within this process. */
  stop?(): MaybePromise<void>
  stats?(): MaybePromise<InboxStats>
}

/** How one message is published. */
export interface Publication {
  readonly delayMs: number
  /** Events of one group run one at a time. Without `serializeBy` every event is a group of its own. */
  readonly group: string
}

/** A message, as an engine hands it out. */
export interface PushMessage {
  /** The engine's own name for it, for the log. */
  readonly id: string
  readonly body: Uint8Array
  /** How often the engine has handed it out, this time included. */
  readonly deliveries: number
}

/** Instruction to the engine about a message. */
export type PushOutcome =
  /** Remove it: it is handled, or kept elsewhere. */
  | { readonly outcome: 'done' }
  /** Keep it, and hand it out again after the delay. */
  | { readonly outcome: 'later'; readonly delayMs: number }
