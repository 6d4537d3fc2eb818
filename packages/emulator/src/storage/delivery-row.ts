import type { DeliveryKind, DeliveryMark, DeliveryState } from '../shapes/requests.ts'

/** A row of `deliveries`. */
export interface DeliveryRow {
  readonly seq: number
  readonly id: string
  readonly workspace: string
  readonly event_id: string
  readonly type: string
  readonly category: string
  readonly kind: DeliveryKind
  readonly state: DeliveryState
  readonly created_at: number
  /** Time of the next attempt. */
  readonly next_at: number | null
  /** 1 while an attempt is under way. */
  readonly running: 0 | 1
  /** Time of the first attempt. */
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly attempts: number
  readonly last_status: number | null
  readonly last_code: string | null
  readonly last_error: string | null
  /** Time of the last attempt until its reply. */
  readonly last_duration_ms: number | null
  /** Id of the delivery that this one repeats. */
  readonly origin: string | null
  readonly message: string | null
  /** Reason why it was skipped, replayed, discarded or left undelivered. */
  readonly reason: string | null
  readonly bytes: number
  /** Name of its random draws, which makes them independent of other replies. */
  readonly draw: string
  /** Its own faults, as JSON; null for the emulator's. */
  readonly faults: string | null
  /** Headers for an exact replay, as JSON. */
  readonly headers: string | null
  /** Address that it goes to instead of the endpoint's. */
  readonly target: string | null
  /** The replay of many that made it. */
  readonly batch: string | null
  /** Number of its first attempt; null before it. */
  readonly arrival: number | null
  /** Marks between spaces: `' retried lost_reply '`. */
  readonly marks: string
}

export function marksIn(text: string): readonly DeliveryMark[] {
  return text.split(' ').filter(mark => mark !== '') as DeliveryMark[]
}

/** Adds marks to the text of a row. */
export function addMarks(text: string, added: readonly DeliveryMark[]): string {
  const all = new Set([...marksIn(text), ...added])
  return all.size === 0 ? '' : ` ${[...all].join(' ')} `
}

/** Fields of a new row. `pending` needs `next_at`. */
export type NewDelivery = Pick<
  DeliveryRow,
  'workspace' | 'event_id' | 'type' | 'category' | 'kind' | 'state' | 'created_at' | 'next_at' | 'draw'
> &
  Partial<
    Pick<DeliveryRow, 'origin' | 'message' | 'reason' | 'faults' | 'headers' | 'target' | 'batch' | 'marks'>
  > & {
    readonly body: Uint8Array
  }

/** A row of `attempts`. */
export interface AttemptRow {
  readonly seq: number
  readonly number: number
  readonly at: number
  readonly duration_ms: number
  readonly acknowledged: 0 | 1
  readonly status: number | null
  readonly code: string | null
  readonly error: string | null
  readonly retry_after_ms: number | null
  readonly faults: string
  readonly url: string
  readonly headers: string
  /** Bytes that were sent, if a fault changed them. */
  readonly body: Uint8Array | null
  readonly reply_headers: string
  readonly reply_body: Uint8Array
  readonly truncated: 0 | 1
}

/** State of a delivery after an attempt. */
export type AttemptOutcome = Pick<DeliveryRow, 'state' | 'next_at' | 'ended_at' | 'reason'>

/** Result of an attempt, from which an endpoint's health follows. */
export type AttemptResult = Pick<DeliveryRow, 'workspace'> &
  Pick<AttemptRow, 'at' | 'acknowledged' | 'status' | 'code' | 'error'>
