import type { EventFor, EventPattern, HandlerContext } from '@ackhook/core'
import { SetMetadata } from '@nestjs/common'
import { Reflector } from '@nestjs/core'
import { DEFAULT_NAME, type NestEvents } from './options.ts'

/** Options of {@link OnWebhook}. */
export interface OnWebhookOptions {
  /** Name of the receiver, if the app has several. Default `'default'`. */
  readonly receiver?: string | undefined
}

/** A method that may have the decorator, whatever it takes. */
export type WebhookMethod = (event: never, context: never) => unknown

/** Says in the compiler's error which event a method should take. `unknown` if it takes this one. */
type Takes<Method extends WebhookMethod, Pattern> =
  Parameters<Method> extends []
    ? unknown
    : [EventFor<NestEvents, Pattern>, HandlerContext] extends Required<Parameters<Method>>
      ? unknown
      : [EventFor<NestEvents, Pattern>] extends Required<Parameters<Method>>
        ? unknown
        : { readonly 'the method must take the event of': Pattern }

/** Decorator of a method that takes the event of `Pattern`. */
export type WebhookMethodDecorator<Pattern> = <Method extends WebhookMethod>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method> & Takes<Method, Pattern>,
) => void

/** One use of the decorator. */
export interface Subscription {
  readonly type: string | readonly string[]
  readonly receiver: string
}

const SUBSCRIPTIONS = 'ackhook.subscriptions'
const reflector = new Reflector()

/**
 * Runs a provider's or controller's method for events of `type`: a type, a list of them, a category (`'conversation.*'`) or
 * `'*'`. Like `on` of a receiver, which checks the type when the app starts. A request-scoped provider is created for each
 * attempt.
 *
 * @example
 * class Conversations {
 *   @OnWebhook('conversation.resolved')
 *   async close(event: EventOf<'conversation.resolved'>) {
 *     await crm.close(event.data.conversation_id)
 *   }
 * }
 */
export function OnWebhook<const Pattern extends EventPattern<NestEvents>>(
  type: Pattern | readonly Pattern[],
  { receiver = DEFAULT_NAME }: OnWebhookOptions = {},
): WebhookMethodDecorator<Pattern> {
  return (target, key, descriptor) => {
    const method = descriptor.value as unknown as () => void
    const all: Subscription[] = [...subscriptionsOf(method), { type, receiver }]
    SetMetadata(SUBSCRIPTIONS, all)(target, key, descriptor)
  }
}

/** Returns what a method subscribes to. */
export function subscriptionsOf(method: () => unknown): readonly Subscription[] {
  return reflector.get<readonly Subscription[] | undefined>(SUBSCRIPTIONS, method) ?? []
}
