import type { MaybePromise } from '../../lib/maybe-promise.ts'
import type { InboxStats, ProcessingPolicy } from '../inbox.ts'

/** Queue that stores messages and calls a consumer with them. It treats them as opaque bytes. */
export interface PushEngine {
  /** Name for log and error texts: `queue 'webhooks'`. Never contains a password. */
  readonly location: string
  /** Maximum bytes of one message. Read at each acceptance. */
  readonly maxBytes: number
  /** Returns how many of those bytes a message takes, if that is not its length. */
  sizeOf?(message: Uint8Array): number
  /** Longest delay of one publication. A longer wait takes several. */
  readonly maxDelayMs: number
  /**
   * True if messages of one group arrive one at a time, in order. A retried message stays in place, because publishing
   * it again would move it to the end of its group.
   */
  readonly inOrder?: boolean
  /** Resolves once the engine has confirmed that it stored the message. */
  publish(message: Uint8Array, about: Publication): Promise<void>
  /** Stores a message that gets no further attempt. If absent, such messages are dropped. */
  keepDead?(message: Uint8Array, about: Publication): Promise<void>
  /** Rejects if the engine cannot work under the policy. */
  start?(policy: ProcessingPolicy): MaybePromise<void>
  /** Stops calling the consumer from within this process. */
  stop?(): MaybePromise<void>
  stats?(): MaybePromise<InboxStats>
}

/** Options for publishing one message. */
export interface Publication {
  readonly delayMs: number
  /** Events of one group run one at a time. Without `serializeBy` every event is its own group. */
  readonly group: string
}

/** Message as delivered by an engine. */
export interface PushMessage {
  /** The engine's own id of the message, for the log. */
  readonly id: string
  readonly body: Uint8Array
  /**
   * Number of deliveries of this message by the engine's count, this one included. It says nothing about attempts: the
   * engine also counts deliveries that no consumer began.
   */
  readonly deliveries: number
}

/** Instruction to the engine about a message. */
export type PushOutcome =
  /** Remove the message: its event is handled, or kept elsewhere. */
  | { readonly outcome: 'done' }
  /** Keep the message, and deliver it again after the delay. */
  | { readonly outcome: 'later'; readonly delayMs: number }
