import { createHash } from 'node:crypto'
import type { Delivery } from '@ackhook/core'

let count = 0

/** Parts of a delivery that the caller of {@link makeDelivery} sets. */
export type DeliveryParts = Partial<Omit<Delivery, 'body'>> & { readonly body?: Uint8Array | string }

/**
 * Creates a delivery as a receiver does: a key from namespace and id, the exact bytes and their fingerprint.
 *
 * @example
 * const delivery = makeDelivery({ type: 'message.received', namespace: 'acme' })
 */
export function makeDelivery(parts: DeliveryParts = {}): Delivery {
  const id = parts.id ?? `evt_suite_${process.pid}_${count++}`
  const namespace = parts.namespace ?? ''
  const type = parts.type ?? 'conversation.resolved'
  const data = { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' }
  const event = { id, type, created_at: '2026-11-21T10:00:00.000Z', data }
  const body = bytesOf(parts.body ?? JSON.stringify(event))
  const hash = createHash('sha256').update(`${namespace.length}:${namespace}${id}`)
  return {
    key: hash.digest().subarray(0, 16).toString('base64url'),
    namespace,
    id,
    type,
    body,
    fingerprint: createHash('sha256').update(body).digest().readInt32BE(),
    receivedAt: parts.receivedAt ?? Date.now(),
    event,
    ...(parts.order && { order: parts.order }),
    ...(parts.trace && { trace: parts.trace }),
  }
}

function bytesOf(body: Uint8Array | string): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}
