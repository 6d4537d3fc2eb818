import type { Delivery, SerialOrder } from '@ackhook/core'
import type { Arrival, Batch } from '../protocol/batch.ts'

/**
 * Deliveries as they cross to the thread: the bodies in one piece of memory of their own, which can move there. Each body
 * by itself is a window on memory it shares with others, all of which would be copied.
 */
export function pack(firstRef: number, deliveries: readonly Delivery[]): Pick<Batch, 'arrivals' | 'bytes'> {
  const bytes = new Uint8Array(deliveries.reduce((sum, { body }) => sum + body.length, 0))
  let offset = 0
  const arrivals = deliveries.map((delivery, index): Arrival => {
    const { key, namespace, id, type, fingerprint, receivedAt, body, order, trace } = delivery
    bytes.set(body, offset)
    offset += body.length
    return [
      firstRef + index,
      key,
      namespace,
      id,
      type,
      fingerprint,
      Math.round(receivedAt),
      body.length,
      order === undefined ? null : storedOrderKey(order),
      order === undefined ? null : storedOrderAt(order),
      trace?.traceparent ?? null,
      trace?.tracestate ?? null,
    ]
  })
  return { arrivals, bytes }
}

/**
 * An ordering key without NULs, and still a different one for every other key. `@photostructure/sqlite` binds a text
 * only up to a NUL, which would make one key of many: of a tenant and a conversation, say, with a NUL between them.
 */
export function storedOrderKey({ key }: SerialOrder): string {
  return String(key).replace(/[\0\ufdd0]/g, one => (one === '\0' ? '\ufdd00' : '\ufdd01'))
}

/** SQLite keeps whole milliseconds. */
export function storedOrderAt({ createdAt }: SerialOrder): number {
  return Math.round(createdAt)
}
