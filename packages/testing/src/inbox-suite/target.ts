import type { Inbox, MaybePromise } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** Promises of an inbox beyond the common ones. The suite runs the cases of each. */
export interface InboxCapabilities {
  /** Accepted events survive the process: the next one continues with them. */
  readonly survives: boolean
  /** Several processes may work on the same events at one time. They share what they handle. */
  readonly shared: boolean
  /** Runs events of one `order.key` one at a time. */
  readonly serialize: boolean
  /** Forgets a handled id within seconds of the end of its retention. */
  readonly forgets: boolean
  /** Lists events by their state (`browse`). */
  readonly browse?: boolean | undefined
  /** Counts what came and ended by minute, what came included (`throughput`). */
  readonly counts?: boolean | undefined
  /** Redrives and discards many dead letters in one step (`redriveMany`, `discardMany`). */
  readonly many?: boolean | undefined
}

/** Place for the events of one case: a file, a queue, a process. Empty at first. */
export interface InboxTarget extends Closable {
  /**
   * Creates an inbox on this case's events, as one process would. Called several times if the inbox survives, for the next
   * process, or if it is shared, for one that runs at the same time. The suite closes each of them.
   */
  createInbox(): MaybePromise<Inbox>
}

/** An inbox in a process that can be killed. {@link inboxProcess} makes one. */
export interface MortalInbox {
  readonly inbox: Inbox
  /** Ends its process at once, as SIGKILL does. Resolves when it has ended. */
  kill(): MaybePromise<void>
}

/** Interventions that only the author of an inbox can offer. The cases of a missing hook are in `notRun`. */
export interface InboxHooks<Target extends InboxTarget = InboxTarget> {
  /**
   * An inbox on the events of the target that a case kills. Where you can, let what was not flushed to the disk be gone
   * then, as after a power cut: only this shows a missing fsync.
   */
  crash?(target: Target): MaybePromise<MortalInbox>
  /** Fails all writes to the target's storage from a call with `true` to a call with `false`. Stored data is kept. */
  failWrites?(target: Target, isFailing: boolean): MaybePromise<void>
  /** Creates an inbox on the target's events, in a process whose wall clock is this many milliseconds ahead, or behind. */
  skew?(target: Target, aheadMs: number): MaybePromise<Inbox>
  /** Creates a target like `open`, with room for bodies of about this many bytes. */
  openSmall?(bytes: number): MaybePromise<Target>
}

/** Requirements of a case: a capability of the inbox, or a hook of its author. */
export type InboxNeed = keyof InboxCapabilities | keyof InboxHooks

/** A target with its hooks, for one case. */
export interface Stage extends Pick<InboxTarget, 'createInbox'> {
  crash(): MaybePromise<MortalInbox>
  failWrites(isFailing: boolean): MaybePromise<void>
  skew(aheadMs: number): MaybePromise<Inbox>
}

export interface InboxCase extends TargetCase<Stage> {
  readonly needs: readonly InboxNeed[]
}
