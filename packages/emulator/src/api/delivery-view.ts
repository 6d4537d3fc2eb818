import { isGuess } from '../events/event-input.ts'
import { toInstant } from '../lib/time.ts'
import type { DeliveryKind, DeliveryMark, DeliveryState } from '../shapes/requests.ts'
import { type AttemptRow, type DeliveryRow, marksIn } from '../storage/delivery-row.ts'

/** A delivery, as lists show it. Instants are ISO 8601 in UTC. */
export interface DeliveryView {
  readonly id: string
  /** Number that increases with each delivery. */
  readonly seq: number
  /** Number that increases with each first attempt; null before it. */
  readonly arrival: number | null
  readonly workspace: string
  /** The event's id. */
  readonly event: string
  readonly type: string
  readonly category: string
  /** `event`, `duplicate` (a fault) or `replay`. */
  readonly kind: DeliveryKind
  /** What happened to it. */
  readonly marks: readonly DeliveryMark[]
  /**
   * `pending` (an attempt is under way or scheduled), `acknowledged`, `undelivered` (attempts are used up, or the endpoint
   * was removed), `replayed` (formerly undelivered, sent again as another delivery), `discarded`, or `skipped` (not
   * subscribed, or no endpoint).
   */
  readonly state: DeliveryState
  /** `true` while an attempt is under way. */
  readonly underWay: boolean
  /** `true` if the platform has not published this type. */
  readonly guess: boolean
  readonly createdAt: string
  readonly nextAttemptAt: string | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  /** Number of completed attempts. */
  readonly attempts: number
  /** Status of the last reply. */
  readonly lastStatus: number | null
  readonly lastCode: string | null
  readonly lastError: string | null
  /** Milliseconds from the start of the last attempt to its reply. */
  readonly lastDurationMs: number | null
  /** Address that it goes to instead of the endpoint's. */
  readonly to: string | null
  /** The replay of many that made it, as a filter. */
  readonly batch: string | null
  /** Id of the delivery that this one repeats. */
  readonly origin: string | null
  /** Id of the message that the event is about. */
  readonly message: string | null
  /** Reason why it was skipped, replayed, discarded or left undelivered. */
  readonly reason: string | null
  /** Size of the event in bytes. */
  readonly bytes: number
}

/** Bytes as text, and also in base64 if they are not UTF-8. */
export interface BytesView {
  readonly text: string
  readonly base64: string | null
}

/** One attempt, with its request and its reply. */
export interface AttemptView {
  /** 1 for the first. */
  readonly number: number
  readonly at: string
  readonly durationMs: number
  readonly acknowledged: boolean
  readonly status: number | null
  /** The reply's `code`, if any. */
  readonly code: string | null
  /** Reason why there was no reply. */
  readonly error: string | null
  readonly retryAfterMs: number | null
  /** Injected faults. */
  readonly faults: readonly string[]
  readonly url: string
  readonly requestHeaders: Readonly<Record<string, string>>
  /** Bytes that were sent, if a fault changed the event. */
  readonly requestBody: BytesView | null
  /** Headers in order of arrival. */
  readonly replyHeaders: readonly (readonly [name: string, value: string])[]
  /** First 64 KiB of the reply; 1 KiB of an older one if the log is in memory and has many different long replies. */
  readonly replyBody: BytesView
  /** `true` if the reply was longer than what is kept. */
  readonly truncated: boolean
}

/** A delivery with its event and attempts. */
export interface DeliveryDetail extends DeliveryView {
  /** The exact event. */
  readonly body: BytesView
  readonly log: readonly AttemptView[]
  /** When its next attempts start if each fails at once, at most twenty: the first is certain, the others are estimates. */
  readonly planned: readonly string[]
}

/** The exact last request of a delivery, in the format of `ackhook listen --save`. */
export interface SavedRequest {
  readonly format: 'ackhook-delivery-1'
  readonly receivedAt: string
  readonly method: 'POST'
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Base64 of the exact bytes. */
  readonly body: string
}

export function toSavedRequest({ at, url, headers, body }: AttemptRow, event: Uint8Array): SavedRequest {
  return {
    format: 'ackhook-delivery-1',
    receivedAt: toInstant(at),
    method: 'POST',
    url,
    headers: Object.entries(JSON.parse(headers) as Record<string, string>),
    body: Buffer.from(body ?? event).toString('base64'),
  }
}

export function toDeliveryView(row: DeliveryRow): DeliveryView {
  return {
    id: row.id,
    seq: row.seq,
    arrival: row.arrival,
    workspace: row.workspace,
    event: row.event_id,
    type: row.type,
    category: row.category,
    kind: row.kind,
    marks: marksIn(row.marks),
    state: row.state,
    underWay: row.running === 1,
    guess: isGuess(row.type),
    createdAt: toInstant(row.created_at),
    nextAttemptAt: instantOrNull(row.next_at),
    startedAt: instantOrNull(row.started_at),
    endedAt: instantOrNull(row.ended_at),
    attempts: row.attempts,
    lastStatus: row.last_status,
    lastCode: row.last_code,
    lastError: row.last_error,
    lastDurationMs: row.last_duration_ms,
    to: row.target,
    batch: row.batch,
    origin: row.origin,
    message: row.message,
    reason: row.reason,
    bytes: row.bytes,
  }
}

export function toDeliveryDetail(
  row: DeliveryRow,
  body: Uint8Array,
  attempts: readonly AttemptRow[],
  planned: readonly number[],
): DeliveryDetail {
  return {
    ...toDeliveryView(row),
    body: toBytesView(body),
    log: attempts.map(toAttemptView),
    planned: planned.map(toInstant),
  }
}

function toAttemptView(row: AttemptRow): AttemptView {
  return {
    number: row.number,
    at: toInstant(row.at),
    durationMs: row.duration_ms,
    acknowledged: row.acknowledged === 1,
    status: row.status,
    code: row.code,
    error: row.error,
    retryAfterMs: row.retry_after_ms,
    faults: JSON.parse(row.faults),
    url: row.url,
    requestHeaders: JSON.parse(row.headers),
    requestBody: row.body === null ? null : toBytesView(row.body),
    replyHeaders: JSON.parse(row.reply_headers),
    replyBody: toBytesView(row.reply_body),
    truncated: row.truncated === 1,
  }
}

function toBytesView(bytes: Uint8Array): BytesView {
  const buffer = Buffer.from(bytes)
  const text = buffer.toString('utf8')
  return { text, base64: Buffer.from(text, 'utf8').equals(buffer) ? null : buffer.toString('base64') }
}

function instantOrNull(ms: number | null): string | null {
  return ms === null ? null : toInstant(ms)
}
