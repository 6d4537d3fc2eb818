import type { Delivery, SerialOrder } from '../delivery.ts'
import { type TraceContext, traceContext } from '../trace-context.ts'

/** Event as stored by an engine. */
export interface Envelope {
  readonly delivery: Delivery
  /** Attempts that have ended, including crashes of earlier messages. */
  readonly attempts: number
  /** Remainder of a delay that was too long for one publication. */
  readonly waitMs: number
}

/** Who wrote a message of another form. */
export type OtherVersion = 'later_version' | 'earlier_version'

/** Reason why an event is a dead letter, for people who inspect the message. */
export interface Death {
  readonly reason: string
  readonly attempts: number
  /** Milliseconds since the epoch. */
  readonly failedAt: number
}

/** Head of an envelope: one line before the body. */
interface Head extends TraceContext {
  readonly v: number
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly fingerprint: number
  readonly receivedAt: number
  readonly attempts: number
  readonly waitMs: number
  readonly order?: SerialOrder
  readonly dead?: Death
}

/** A change of the form raises it. 1 was the form before the first release. */
const VERSION = 2
const NEWLINE = 10

/** Writes a line of JSON, then the exact signed bytes. */
export function writeEnvelope({ delivery, attempts, waitMs }: Envelope, dead?: Death): Uint8Array {
  const { key, namespace, id, type, fingerprint, receivedAt, body, order, trace } = delivery
  const about = { v: VERSION, key, namespace, id, type, fingerprint, receivedAt, attempts, waitMs }
  const head = new TextEncoder().encode(`${JSON.stringify({ ...about, order, ...trace, dead })}\n`)
  const message = new Uint8Array(head.length + body.length)
  message.set(head)
  message.set(body, head.length)
  return message
}

/**
 * Parses an envelope. Returns which version wrote it if it has another form, and `undefined` if another producer did or it
 * is damaged.
 */
export function readEnvelope(bytes: Uint8Array): Envelope | OtherVersion | undefined {
  const end = bytes.indexOf(NEWLINE)
  if (end < 0) return undefined
  const head = parse(bytes.subarray(0, end))
  if (head === undefined) return undefined
  if (typeof head.v === 'number' && head.v !== VERSION)
    return head.v > VERSION ? 'later_version' : 'earlier_version'
  const { v, key, namespace, id, type, fingerprint, receivedAt, attempts, waitMs, order } = head
  const texts = [key, namespace, id, type]
  const numbers = [fingerprint, receivedAt, attempts, waitMs]
  if (v !== VERSION || !texts.every(one => typeof one === 'string')) return undefined
  if (!numbers.every(one => Number.isFinite(one))) return undefined
  if (order !== undefined && typeof order.key !== 'string') return undefined
  const trace = traceContext(head.traceparent, head.tracestate)
  const body = bytes.subarray(end + 1)
  const event = { key, namespace, id, type, body, fingerprint, receivedAt }
  const delivery = { ...event, ...(order && { order }), ...(trace && { trace }) }
  return { delivery: delivery as Delivery, attempts: attempts as number, waitMs: waitMs as number }
}

function parse(line: Uint8Array): Partial<Head> | undefined {
  try {
    const head: unknown = JSON.parse(new TextDecoder().decode(line))
    return typeof head === 'object' && head !== null ? head : undefined
  } catch {
    return undefined
  }
}
