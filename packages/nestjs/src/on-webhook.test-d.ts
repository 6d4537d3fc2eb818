import type { ConversationResolvedData, EventOf, HandlerContext, WebhookEvent } from '@ackhook/core'
import { memoryInbox } from '@ackhook/core'
import { type NestReceiver, OnWebhook, WebhooksModule } from '@ackhook/nestjs'
import { expectTypeOf } from 'vitest'

export class Handlers {
  @OnWebhook('conversation.resolved')
  async one(event: EventOf<'conversation.resolved'>, { attempt }: HandlerContext): Promise<number> {
    expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
    return attempt
  }

  @OnWebhook('conversation.resolved')
  nothing(): void {}

  @OnWebhook('conversation.resolved')
  less(event: { readonly data: { readonly conversation_id: string } }): string {
    return event.data.conversation_id
  }

  @OnWebhook(['conversation.resolved', 'order.paid'])
  list(event: EventOf<'conversation.resolved' | 'order.paid'>): void {
    void event.id
  }

  @OnWebhook('conversation.*', { receiver: 'other' })
  category(event: EventOf<'conversation.*'>): void {
    if (event.type === 'conversation.resolved')
      expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
  }

  @OnWebhook('*')
  any(event: WebhookEvent): void {
    void event.type
  }

  // @ts-expect-error: another event
  @OnWebhook('conversation.resolved')
  wrong(event: WebhookEvent<'conversation.resolved', { readonly conversation: string }>): void {
    void event.data.conversation
  }

  // @ts-expect-error: more than the event has
  @OnWebhook('conversation.resolved')
  more(
    event: WebhookEvent<'conversation.resolved', ConversationResolvedData & { readonly extra: string }>,
  ): void {
    void event.data.extra
  }

  // @ts-expect-error: the data alone
  @OnWebhook('conversation.resolved')
  data(data: ConversationResolvedData): void {
    void data.channel
  }

  // @ts-expect-error: one of several events
  @OnWebhook('*')
  narrow(event: EventOf<'conversation.resolved'>): void {
    void event.data.channel
  }

  // @ts-expect-error: no third parameter
  @OnWebhook('conversation.resolved')
  third(_event: EventOf<'conversation.resolved'>, _context: HandlerContext, reply: object): void {
    void reply
  }

  // @ts-expect-error: no such option
  @OnWebhook('conversation.resolved', { name: 'other' })
  option(): void {}
}

class Config {
  get = (name: string): string => name
}

WebhooksModule.forRoot({
  secret: ({ params, request }) => {
    expectTypeOf(params).toEqualTypeOf<Readonly<Record<string, string>>>()
    return request.headers['x-workspace'] === 'a' ? 'a' : null
  },
  path: '/webhooks/:workspace',
  keep: ['guards', 'prefix'],
})
WebhooksModule.forRootAsync({
  inject: [Config],
  useFactory: async (config: Config) => ({ secret: config.get('SECRET'), inbox: memoryInbox() }),
})
// @ts-expect-error: misspelled
WebhooksModule.forRoot({ secret: 'a', tolerence: '5m' })
// @ts-expect-error: not a part of the app
WebhooksModule.forRoot({ secret: 'a', keep: ['guard'] })

declare const receiver: NestReceiver
receiver.on('conversation.resolved', event =>
  expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>(),
)
