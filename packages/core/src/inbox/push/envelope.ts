import type { Delivery, SerialOrder } from '../delivery.ts'
import { type TraceContext, traceContext } from '../trace-context.ts'

/** One event, as an engine keeps it. */
export interface Envelope {
  readonly delivery: Delivery
  /** That have ended, crashes of earlier messages included. */
  readonly attempts: number
  /** Rest of a delay that was too long for one publication. */
  readonly waitMs: number
}

/** Why an event is a dead letter, for people who look into the message. */
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

const VERSION = 1
const NEWLINE = 10

/** A line of JSON, then the exact bytes that were signed. */
export function writeEnvelope({ delivery, attempts, waitMs }: Envelope, dead?: Death): Uint8Array {
  const { key, namespace, id, type, fingerprint, receivedAt, body, order, trace } = delivery
  const about = { v: VERSION, key, namespace, id, type, fingerprint, receivedAt, attempts, waitMs }
  const head = new TextEncoder().encode(`${JSON.stringify({ ...about, order, ...trace, dead })}\n`)
  const message = new Uint8Array(head.length + body.length)
  message.set(head)
  message.set(body, head.length)
  return message
}

/** `'later_version'`: a later release wrote it. `undefined`: another producer did, or it is damaged. */
export function readEnvelope(bytes: Uint8Array): Envelope | 'later_version' | undefined {
  const end = bytes.indexOf(NEWLINE)
  if (end < 0) return undefined
  const head = parse(bytes.subarray(0, end))
  if (head === undefined) return undefined
  if (typeof head.v === 'number' && head.v > VERSION) return 'later_version'
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
