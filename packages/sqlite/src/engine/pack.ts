import type { Delivery, SerialOrder } from '@ackhook/core'
import type { Arrival, Batch } from '../protocol/batch.ts'

/**
 * Packs deliveries for the thread: the bodies in one buffer, which can be moved there. A single body is a view of memory
 * shared with other bodies, all of which would be copied.
 */
export function pack(firstRef: number, deliveries: readonly Delivery[]): Pick<Batch, 'arrivals' | 'bytes'> {
  const bytes = new Uint8Array(deliveries.reduce((sum, { body }) => sum + body.length, 0))
  let offset = 0
  const arrivals = deliveries.map((delivery, index): Arrival => {
    const { key, namespace, id, type, fingerprint, receivedAt, body, order, trace, group } = delivery
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
      group === undefined ? null : withoutNul(group),
    ]
  })
  return { arrivals, bytes }
}

/**
 * Escapes NULs, so that different ordering keys stay different. `@photostructure/sqlite` binds a text only up to a NUL:
 * tenant, NUL, conversation would become one key for the whole tenant.
 */
export function storedOrderKey({ key }: SerialOrder): string {
  return withoutNul(String(key))
}

function withoutNul(text: string): string {
  return text.replace(/[\0\ufdd0]/g, one => (one === '\0' ? '\ufdd00' : '\ufdd01'))
}

/** Rounds to the whole milliseconds that SQLite stores. */
export function storedOrderAt({ createdAt }: SerialOrder): number {
  return Math.round(createdAt)
}
