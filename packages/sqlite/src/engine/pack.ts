import type { Delivery } from '@ackhook/core'
import type { Arrival } from './protocol.ts'

/**
 * Deliveries as they cross to the thread: the bodies in one piece of memory of their own, which moves there. A
 * body by itself is a window on memory it shares with others, and all of that would be copied for each.
 */
export function pack(refs: readonly number[], deliveries: readonly Delivery[]): Packed {
  const bytes = new Uint8Array(deliveries.reduce((sum, { body }) => sum + body.length, 0))
  let offset = 0
  const arrivals = deliveries.map((delivery, index): Arrival => {
    const { key, namespace, id, type, fingerprint, receivedAt, body, order } = delivery
    bytes.set(body, offset)
    offset += body.length
    return [
      refs[index] ?? -1,
      key,
      namespace,
      id,
      type,
      fingerprint,
      Math.round(receivedAt),
      body.length,
      order?.key ?? null,
      order === undefined ? null : Math.round(order.createdAt),
    ]
  })
  return { arrivals, bytes }
}

interface Packed {
  readonly arrivals: readonly Arrival[]
  readonly bytes: Uint8Array
}
