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

/** What a function of the user's answered is of the wrong kind. It is refused and not converted: two keys may become one. */
function refuse(option: string, answer: unknown, expected: string): never {
  const isAsync = isPromise(answer)
  // Nobody else waits for it, and its rejection would end the process.
  if (isAsync) Promise.resolve(answer).catch(() => {})
  const got = isAsync ? 'a promise: it must not be asynchronous' : typeof answer
  throw new ConfigurationError(option, `the function must answer ${expected}; it answered ${got}`)
}
