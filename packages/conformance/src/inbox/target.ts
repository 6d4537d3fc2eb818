import type { Inbox, MaybePromise } from '@ackhook/core'
import type { Closable, TargetCase } from '../lib/suite-case.ts'

/** Guarantees of an inbox beyond the basic ones. The suite runs the cases of each. */
export interface InboxCapabilities {
  /** Accepted events survive the process: the next one continues with them. */
  readonly survives: boolean
  /** Several processes may handle the same events at the same time. They share the event types that they handle. */
  readonly shared: boolean
  /** Runs the events of each `order.key` one at a time. */
  readonly serialize: boolean
  /** Forgets a handled id within seconds of its retention's end. */
  readonly forgets: boolean
  /** Lists events by state (`browse`). */
  readonly browse?: boolean | undefined
  /** Counts received and finished events by minute (`throughput`). */
  readonly counts?: boolean | undefined
  /** Keeps figures of what processes do (`activity`). */
  readonly activity?: boolean | undefined
  /** Redrives and discards many dead letters in one step (`redriveMany`, `discardMany`). */
  readonly many?: boolean | undefined
  /** Drops dead letters by their age (`deadLetters.discardOlder`, `deadLetterRetentionMs`). */
  readonly drops?: boolean | undefined
  /** Scans its events, and deletes those that wait (`erasure`). */
  readonly erases?: boolean | undefined
  /** Counts and lists dead letters by the kind of their error (`deadLetters.groups`). */
  readonly groups?: boolean | undefined
  /** Tells where one event is (`lookup`). */
  readonly lookup?: boolean | undefined
  /** Shows an event's trace context with its body (`trace` of a dead letter, of `lookup` and of `browse` by key). */
  readonly traces?: boolean | undefined
  /** Pauses and resumes handling (`handling`). */
  readonly pauses?: boolean | undefined
  /** Pauses that of single types too. */
  readonly pausesTypes?: boolean | undefined
  /** Shares its slots among groups, and between first attempts and retries (`sharesSlots`). */
  readonly sharesSlots?: boolean | undefined
}

/** Place for one case's events: a file, a queue, a process. Empty at first. */
export interface InboxTarget extends Closable {
  /**
   * Creates an inbox on this case's events, as one process would. An inbox that survives is created again for the next
   * process, and a shared one for a process that runs at the same time. The suite closes each of them.
   */
  createInbox(): MaybePromise<Inbox>
}

/** An inbox in a process that can be killed. {@link inboxProcess} creates one. */
export interface MortalInbox {
  readonly inbox: Inbox
  /** Ends its process at once, as SIGKILL does. Resolves when the process has ended. */
  kill(): MaybePromise<void>
}

/** An inbox in a process that can be stopped, whose path to its store can be slow. */
export interface DistantInbox {
  readonly inbox: Inbox
  /**
   * Delays everything on the path by this much in each direction; or silences what is open, without closing it, like a
   * network device that has forgotten its connections.
   */
  path(state: PathState): MaybePromise<void>
  /** Stops its process, as SIGSTOP does. */
  stop(): MaybePromise<void>
  /** Continues a stopped process, as SIGCONT does. */
  resume(): MaybePromise<void>
}

/** What happens to what an inbox and its server send each other. */
export type PathState = 'silent' | { readonly delayMs: number }

/** Interventions that only an inbox's author can provide. `notRun` lists the cases whose hook is missing. */
export interface InboxHooks<Target extends InboxTarget = InboxTarget> {
  /**
   * Creates an inbox, on the target's events, that a case kills. If you can, discard all data that was not flushed to
   * disk, as a power cut does: only this reveals a missing fsync.
   */
  crash?(target: Target): MaybePromise<MortalInbox>
  /**
   * Fails all writes to the target's storage between a call with `true` and a call with `false`. Stored data is kept.
   */
  failWrites?(target: Target, isFailing: boolean): MaybePromise<void>
  /** Creates an inbox on the target's events, in a process whose wall clock is this many milliseconds ahead, or behind. */
  skew?(target: Target, aheadMs: number): MaybePromise<Inbox>
  /** Creates an inbox, on the target's events, in a process of its own that reaches its store over a path of its own. */
  distant?(target: Target): MaybePromise<DistantInbox>
  /** Creates a target like `open`, with room for about this many bytes of bodies. */
  openSmall?(bytes: number): MaybePromise<Target>
}

/** A case's needs: a capability of the inbox, or a hook of its author. */
export type InboxNeed = keyof InboxCapabilities | keyof InboxHooks

/** A target with its hooks, for one case. */
export interface Stage extends Pick<InboxTarget, 'createInbox'> {
  crash(): MaybePromise<MortalInbox>
  failWrites(isFailing: boolean): MaybePromise<void>
  skew(aheadMs: number): MaybePromise<Inbox>
  distant(): MaybePromise<DistantInbox>
}

export interface InboxCase extends TargetCase<Stage> {
  readonly needs: readonly InboxNeed[]
}
