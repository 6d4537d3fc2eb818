import type { WebhookRequest } from './delivery.ts'
import { ConfigurationError } from './errors.ts'
import type { WebhookEvent } from './event-types.ts'
import { bodyFingerprint, eventKey } from './identity.ts'
import type { Delivery, SerialOrder } from './inbox.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'

export interface DeliveryParts<Context> {
  readonly namespace: string | ((context: Context) => string)
  readonly serializeBy: ((event: WebhookEvent) => string | undefined) | undefined
  readonly clock: () => number
}

/** Names a verified event and its bytes, so that an inbox can remember and keep them. */
export type ToDelivery<Context> = (
  event: WebhookEvent,
  body: Uint8Array,
  request: Pick<WebhookRequest<Context>, 'context' | 'waitUntil'>,
) => MaybePromise<Delivery>

export function createToDelivery<Context>(parts: DeliveryParts<Context>): ToDelivery<Context> {
  const { namespace, serializeBy, clock } = parts

  function namespaceOf(context: Context): string {
    const name: unknown = typeof namespace === 'string' ? namespace : namespace(context)
    if (typeof name === 'string') return name
    throw new ConfigurationError('namespace', `the function must answer a string; it answered ${typeof name}`)
  }

  function orderOf(event: WebhookEvent): SerialOrder | undefined {
    const key = serializeBy?.(event)
    if (key === undefined) return undefined
    const createdAt = Date.parse(event.created_at)
    return { key, createdAt: Number.isNaN(createdAt) ? clock() : createdAt }
  }

  return (event, body, { context, waitUntil }) => {
    const name = namespaceOf(context)
    const order = orderOf(event)
    const finish = (key: string): Delivery => {
      const fingerprint = bodyFingerprint(body)
      const { id, type } = event
      // Plain assignments: spreading what is usually absent would take longer than all the rest.
      const delivery: { -readonly [Field in keyof Delivery]: Delivery[Field] } = {
        key,
        namespace: name,
        id,
        type,
        body,
        fingerprint,
        receivedAt: clock(),
        event,
      }
      if (order !== undefined) delivery.order = order
      if (waitUntil !== undefined) delivery.waitUntil = waitUntil
      return delivery
    }
    return andThen(eventKey(name, event.id), finish)
  }
}
