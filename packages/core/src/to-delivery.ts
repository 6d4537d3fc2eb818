import type { WebhookRequest } from './delivery.ts'
import { ConfigurationError } from './errors.ts'
import type { WebhookEvent } from './event-types.ts'
import { bodyFingerprint, eventKey } from './identity.ts'
import type { Delivery, SerialOrder } from './inbox.ts'
import { andThen, isPromise, type MaybePromise } from './maybe-promise.ts'

export interface DeliveryParts<Context> {
  readonly namespace: string | ((context: Context) => string)
  readonly serializeBy: ((event: WebhookEvent) => string | null | undefined) | undefined
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
    return typeof name === 'string' ? name : refuse('namespace', name, 'a string')
  }

  function orderOf(event: WebhookEvent): SerialOrder | undefined {
    const key: unknown = serializeBy?.(event)
    // Data say `null` where they have nothing, and one lane for all of those would hold everything up.
    if (key === undefined || key === null) return undefined
    if (typeof key !== 'string') return refuse('serializeBy', key, 'a string, or undefined for no order')
    const createdAt = Date.parse(event.created_at)
    return { key, createdAt: Number.isNaN(createdAt) ? clock() : createdAt }
  }

  return (event, body, { context, waitUntil }) => {
    const name = namespaceOf(context)
    const order = orderOf(event)
    const finish = (key: string): Delivery => {
      const delivery = new VerifiedDelivery(key, name, event, body, clock())
      if (order !== undefined) delivery.order = order
      if (waitUntil !== undefined) delivery.waitUntil = waitUntil
      return delivery
    }
    return andThen(eventKey(name, event.id), finish)
  }
}

/**
 * A class and not a literal: where many deliveries wait for their inbox at one time, V8 learns to allocate what such a
 * literal makes, and what that holds, where only a full collection frees it. It does not do so with instances.
 */
class VerifiedDelivery implements Delivery {
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  readonly body: Uint8Array
  readonly fingerprint: number
  readonly receivedAt: number
  readonly event: WebhookEvent
  declare order?: SerialOrder
  declare waitUntil?: NonNullable<Delivery['waitUntil']>

  constructor(key: string, namespace: string, event: WebhookEvent, body: Uint8Array, receivedAt: number) {
    this.key = key
    this.namespace = namespace
    this.id = event.id
    this.type = event.type
    this.body = body
    this.fingerprint = bodyFingerprint(body)
    this.receivedAt = receivedAt
    this.event = event
  }
}

/** What a function of the user's answered is of the wrong kind. It is refused and not converted: two keys may become one. */
function refuse(option: string, answer: unknown, expected: string): never {
  const isAsync = isPromise(answer)
  // Nobody else waits for it, and its rejection would end the process.
  if (isAsync) Promise.resolve(answer).catch(() => {})
  const got = isAsync ? 'a promise: it must not be asynchronous' : typeof answer
  throw new ConfigurationError(option, `the function must answer ${expected}; it answered ${got}`)
}
