/** A fault injected into an attempt. */
export type InjectedFault =
  | 'tampered'
  | 'stale_timestamp'
  | 'frozen_timestamp'
  | 'lost_reply'
  | 'answered'
  | 'rotated'

/** One request and its result, as seen by the sender. */
export interface SendAttempt {
  /** 1 for the first. */
  readonly number: number
  /** Milliseconds since the epoch, by the sender's clock. */
  readonly at: number
  readonly acknowledged: boolean
  /** Absent if there was no reply, or if the fault `lostReply` removed it. */
  readonly status?: number
  /** The `code` of the reply, if it has one. */
  readonly code?: string
  /** First 2,000 characters of the reply, as in the delivery log. */
  readonly body?: string
  readonly retryAfterMs?: number
  /** Address that a reply of 3xx leads to. Nothing was sent there. */
  readonly location?: string
  /** Reason why there was no reply. */
  readonly error?: string
  readonly durationMs: number
  readonly faults: readonly InjectedFault[]
}
