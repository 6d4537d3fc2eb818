import type { TraceContext } from '@ackhook/core'
import type { CrashDecision } from '@ackhook/core/spi'
import type { Lease } from './batch.ts'
import type { Fault } from './fault.ts'

/**
 * `overtaking`: accepted, but another process may have read ahead what it now goes before. `replaced`: accepted in the
 * place of a dead letter with other bytes. `overtaking-replaced`: both. `refused`, and why: this one event cannot be stored;
 * the others of its batch can.
 */
export type Admission =
  | 'accepted'
  | 'overtaking'
  | 'replaced'
  | 'overtaking-replaced'
  | 'duplicate'
  | 'conflict'
  | 'full'
  | { readonly refused: string }

/** Rows that a query found, or why it failed; the others of its batch did not. */
export type QueryResult = { readonly value: unknown } | Fault

/** An event as the file keeps it. */
export interface StoredEvent {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly fingerprint: number
  readonly receivedAt: number
  readonly body: Uint8Array
  readonly trace?: TraceContext
}

/** A row that was taken, with its lease. */
export interface TakenRow extends Lease {
  /** Grows only when the decision is `'run'`. */
  readonly attempt: number
  /** Decision that follows from the crashes in a row so far. */
  readonly decision: CrashDecision
  /** Routing token of the last result that had one, `0` without. */
  readonly mark: number
  /** The arrival, when that was in the same transaction: its sender has the event. */
  readonly ref?: number
  /** Absent if there is a `ref`. */
  readonly event?: StoredEvent
  /** Present if other rows wait behind this one. */
  behind?: RowsBehind
}

/** The rows behind a taken one of their ordering key that were read ahead of their turn, the next one first. */
export interface RowsBehind {
  /** The ordering key, as the hexadecimal digits of its UTF-8. */
  readonly orderKey: string
  /** Time by the clock of {@link monotonicMs}. */
  readonly readAt: number
  readonly rows: readonly RowBehind[]
}

/** A row read ahead. It has no lease until the result of the row before it passes it on. */
export interface RowBehind extends Lease {
  readonly attempt: number
  readonly orderAt: number
  readonly event: StoredEvent
}

/** Time after the read within which rows that were read ahead may begin. Older ones that arrive elsewhere wait for it. */
export const READ_AHEAD_MS = 100

export interface BatchResult {
  /** One for each arrival, or why none of them is safe. */
  readonly admissions: readonly Admission[] | Fault
  /** States for each settlement whether the lease still held, or why none was applied. */
  readonly settled: readonly boolean[] | Fault
  /** States for each lease of `checks` whether it still holds, or why that is unknown. */
  readonly stillHeld: readonly boolean[] | Fault
  readonly found: readonly QueryResult[] | Fault
  /** Rows that were taken, or why none could be. */
  readonly taken: readonly TakenRow[] | Fault
  /** Time until the next waiting row is due, in milliseconds; absent if none is known. */
  readonly nextDueMs?: number | undefined
}
