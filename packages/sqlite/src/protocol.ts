import type { CrashDecision } from '@ackhook/core/spi'
import type { Fault } from './storage/fault.ts'

/** What the storage must know of the receiver's policy. */
export interface Terms {
  readonly capacity: number
  readonly leaseMs: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly factor: number
}

/**
 * An arrived event. Its bytes are the next `bytes` of those of its batch. `ref` is new for every delivery, so
 * that two deliveries of one event are never taken for each other.
 */
export type Arrival = readonly [
  ref: number,
  key: string,
  namespace: string,
  id: string,
  type: string,
  fingerprint: number,
  receivedAt: number,
  bytes: number,
  orderKey: string | null,
  orderAt: number | null,
]

/** `refused`, and why: this one event cannot be stored; the others of its batch can. */
export type Admission = 'accepted' | 'duplicate' | 'conflict' | 'full' | { readonly refused: string }

/** What a query found, or why it failed; the others of its batch did not. */
export type Answer = { readonly value: unknown } | Fault

/** The lease on a row. */
export interface Lease {
  readonly seq: number
  readonly token: string
}

/** What became of an attempt. Changes nothing unless the lease is still held. */
export type Settlement = Lease &
  (
    | { readonly kind: 'complete'; readonly forgetAt: number }
    | { readonly kind: 'retry'; readonly delayMs: number; readonly reason: string }
    | { readonly kind: 'bury'; readonly failedAt: number; readonly reason: string }
    /** Given back, to run as soon as somebody has time for it. `begun`: the attempt counts. */
    | { readonly kind: 'release'; readonly begun: boolean }
  )

export type Query =
  | { readonly kind: 'stats' }
  | { readonly kind: 'list'; readonly limit: number }
  | { readonly kind: 'get' | 'redrive' | 'discard'; readonly key: string }

/** Everything that one turn of the event loop wants from the storage. */
export interface Batch {
  readonly arrivals: readonly Arrival[]
  /** The bodies of the arrivals, one after the other. */
  readonly bytes: Uint8Array
  readonly settlements: readonly Settlement[]
  /** What this process holds: whether it still does, and to be renewed from now on. */
  readonly held: readonly Lease[]
  readonly queries: readonly Query[]
  /** How many rows may be handed out. */
  readonly take: number
}

/** An event as the file keeps it. */
export interface StoredEvent {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly fingerprint: number
  readonly receivedAt: number
  readonly body: Uint8Array
}

/** A row that is handed out, leased. */
export interface TakenRow extends Lease {
  /** Grows only when the decision is `'run'`. */
  readonly attempt: number
  /** What the crashes in a row so far lead to. */
  readonly decision: CrashDecision
  /** The arrival, when that was in the same transaction: who sent it has the event. */
  readonly ref?: number
  /** Absent where there is a `ref`. */
  readonly event?: StoredEvent
}

export interface BatchResult {
  /** One for each arrival, or why none of them is safe. */
  readonly admissions: readonly Admission[] | Fault
  /** For each settlement whether the lease was still held, or why none was applied. */
  readonly settled: readonly boolean[] | Fault
  /** For each lease of `held` whether that is so, or why it is not known. */
  readonly stillHeld: readonly boolean[] | Fault
  readonly answers: readonly Answer[] | Fault
  /** What was handed out, or why nothing could be. */
  readonly taken: readonly TakenRow[] | Fault
  /** When the next waiting row is due, in milliseconds from now; absent when none is known. */
  readonly nextDueMs?: number
}
