import type { PausedHandling, TraceContext } from '@ackhook/core'
import type { CrashDecision, StoreNotice } from '@ackhook/core/spi'
import type { Lease } from './batch.ts'
import type { Fault } from './fault.ts'

/**
 * `replaced`: accepted in place of a dead letter with other bytes. `later`: the reply must wait for `waitMs`. `refused`:
 * reason why this event, unlike the rest of its batch, cannot be stored.
 */
export type Admission =
  | 'accepted'
  | 'replaced'
  | 'duplicate'
  | 'conflict'
  | 'full'
  | { readonly later: 'accepted' | 'replaced'; readonly waitMs: number }
  | { readonly refused: string }

/** A query's result, or the fault of this query alone. */
export type QueryResult = { readonly value: unknown } | Fault

/** An event as the file stores it. */
export interface StoredEvent {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly fingerprint: number
  readonly receivedAt: number
  /** Time of its last redrive, if there was one. */
  queuedAt?: number
  readonly body: Uint8Array
  readonly trace?: TraceContext
}

/** A row that was taken, with its lease. */
export interface TakenRow extends Lease {
  /** Grows only when the decision is `'run'`. */
  readonly attempt: number
  /** Decision based on the number of consecutive crashes. */
  readonly decision: CrashDecision
  /** Routing token of the last result that had one; `0` if none had. */
  readonly mark: number
  /** Ref of the event's arrival, if that was in the same transaction: the application still has the event. */
  ref?: number
  /** Group whose slots it shares. Absent if it has none. */
  group?: string
  /** `true` if it had waited for its time, mostly to be tried again. */
  isRetry?: true
  /** Absent if there is a `ref`. */
  event?: StoredEvent
  /** Present if other rows wait behind this one. */
  behind?: RowsBehind
}

/** Rows read ahead behind a taken row of the same ordering key, the next one first. */
export interface RowsBehind {
  /** The ordering key, as the hexadecimal digits of its UTF-8. */
  readonly orderKey: string
  /** Time from which none of them may begin, by the clock of `monotonicMs`. */
  readonly beginBefore: number
  readonly rows: readonly RowBehind[]
}

/** A row read ahead. It gets its lease with the previous row's result. */
export interface RowBehind extends Lease {
  readonly attempt: number
  readonly orderAt: number
  readonly event: StoredEvent
}

export interface BatchResult {
  /** One per arrival, or the fault because of which none is stored. */
  readonly admissions: readonly Admission[] | Fault
  /** Per settlement, whether its lease still held; or the fault because of which none was applied. */
  readonly settled: readonly boolean[] | Fault
  /** Per lease of `checks`, whether it still holds; or the fault because of which that is unknown. */
  readonly stillHeld: readonly boolean[] | Fault
  readonly found: readonly QueryResult[] | Fault
  /** Rows that were taken, or the fault because of which none could be. */
  readonly taken: readonly TakenRow[] | Fault
  /** Time until the next waiting row is due, in milliseconds; absent if none is known. */
  readonly nextDueMs?: number | undefined
  /** The pauses in force, if they have changed since the last result that had them. */
  readonly paused?: readonly PausedHandling[] | undefined
  /** What an operator should know since the last result. */
  readonly notices?: readonly StoreNotice[] | undefined
}
