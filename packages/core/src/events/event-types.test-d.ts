import {
  type ConversationResolvedData,
  createReceiver,
  type EventOf,
  type HandlerOf,
  isEvent,
  type ReceiverOptions,
  type SchemaEvents,
  type WebhookEvent,
} from '@ackhook/core'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

declare module '@ackhook/core' {
  interface EventMap {
    'test.merged': { merged_id: string }
    'test.other': { other: number }
  }
  interface EventMap extends SchemaEvents<typeof merged> {}
}

const secret = 'a secret of some bytes'
const receiver = createReceiver({ secret })

// A published type is known exactly.
receiver.on('conversation.resolved', event => {
  expectTypeOf(event.id).toEqualTypeOf<string>()
  expectTypeOf(event.type).toEqualTypeOf<'conversation.resolved'>()
  expectTypeOf(event.created_at).toEqualTypeOf<string>()
  expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
  expectTypeOf(event.data.conversation_id).toEqualTypeOf<string>()
  // @ts-expect-error: misspelled
  void event.data.conversation_ID
  // @ts-expect-error: misspelled
  void event.data.resolvedBy
  // @ts-expect-error: no such field of the context
  receiver.on('a.b', (_, context) => void context.attempts)
})

// Enumerations stay open: the platform may add values.
receiver.on('conversation.resolved', ({ data }) => {
  expectTypeOf<'whatsapp'>().toExtend<typeof data.channel>()
  expectTypeOf<'sms'>().toExtend<typeof data.channel>()
  expectTypeOf<string>().toExtend<typeof data.resolved_by>()
  // @ts-expect-error: not a number
  data.channel = 7
})

// Fields that the platform adds to the envelope can be read as unknown.
receiver.on('conversation.resolved', event => {
  expectTypeOf(event['account']).toEqualTypeOf<unknown>()
})

// Any other type is allowed; its data are unknown.
receiver.on('planet.aligned', event => {
  expectTypeOf(event.type).toEqualTypeOf<'planet.aligned'>()
  expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

// A category is narrowed by the type; events of unknown types remain.
receiver.on('test.*', event => {
  expectTypeOf(event.type).toExtend<`test.${string}`>()
  if (event.type === 'test.merged') {
    expectTypeOf(event.data).toEqualTypeOf<{ merged_id: string }>()
    // @ts-expect-error: misspelled
    void event.data.mergedId
  } else if (event.type === 'test.other') {
    expectTypeOf(event.data).toEqualTypeOf<{ other: number }>()
  } else {
    expectTypeOf(event.type).toExtend<string>()
    expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
  }
  switch (event.type) {
    case 'test.merged':
      return event.data.merged_id
    case 'test.other':
      return event.data.other
    // @ts-expect-error: misspelled, or not known
    case 'test.mergd':
      return undefined
    default:
      return event.data['anything']
  }
})
receiver.on('test.*', (event: WebhookEvent) => void event.data['anything'])
receiver.on('planet.*', event => {
  expectTypeOf(event.type).toEqualTypeOf<`planet.${string}`>()
  expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

// Helpers of one argument.
expectTypeOf<EventOf<'conversation.resolved'>['data']>().toEqualTypeOf<ConversationResolvedData>()
expectTypeOf<EventOf<'planet.aligned'>>().toEqualTypeOf<WebhookEvent<'planet.aligned'>>()
expectTypeOf<EventOf<'*'>>().toEqualTypeOf<WebhookEvent>()
expectTypeOf<EventOf<'test.merged' | 'test.other'>['type']>().toEqualTypeOf<'test.merged' | 'test.other'>()
const elsewhere: HandlerOf<'test.merged'> = (event, { signal }) => [event.data.merged_id, signal]
receiver.on('test.merged', elsewhere)
receiver.on('test.*', (event => void event.id) satisfies HandlerOf<'test.*'>)
// @ts-expect-error: of another type
receiver.on('conversation.resolved', elsewhere)

// Schemas merged into the map.
const merged = { 'merged.once': z.object({ amount: z.coerce.number() }) }
receiver.on('merged.once', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ amount: number }>()
})
createReceiver({ secret, events: merged }).on('merged.*', event => {
  if (event.type === 'merged.once') expectTypeOf(event.data.amount).toEqualTypeOf<number>()
})

// Everything.
receiver.on('*', event => {
  expectTypeOf(event).toEqualTypeOf<WebhookEvent>()
  if (isEvent(event, 'conversation.resolved')) {
    expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
    expectTypeOf(event.type).toEqualTypeOf<'conversation.resolved'>()
    // @ts-expect-error: misspelled
    void event.data.resolvedBy
  }
  // @ts-expect-error: not a known type
  isEvent(event, 'planet.aligned')
})

// A list gives the union, narrowed by the type.
receiver.on(['conversation.resolved', 'test.merged'], event => {
  expectTypeOf(event.type).toEqualTypeOf<'conversation.resolved' | 'test.merged'>()
  if (event.type === 'test.merged') expectTypeOf(event.data).toEqualTypeOf<{ merged_id: string }>()
  else expectTypeOf(event.data).toEqualTypeOf<ConversationResolvedData>()
})
receiver.on(['conversation.resolved', 'planet.aligned'] as const, event => {
  if (event.type === 'planet.aligned') expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

// Declaration merging.
receiver.on('test.merged', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ merged_id: string }>()
  // @ts-expect-error: misspelled
  void event.data.mergedId
})

// Schemas override the map.
const withSchemas = createReceiver({
  secret,
  events: {
    'message.delivered': z.object({ message_id: z.string(), count: z.coerce.number() }),
    'conversation.resolved': z.object({ conversation_id: z.string().brand('conversation') }),
  },
})
withSchemas
  .on('message.delivered', event => {
    expectTypeOf(event.data).toEqualTypeOf<{ message_id: string; count: number }>()
    // @ts-expect-error: misspelled
    void event.data.messageId
  })
  .on('conversation.resolved', event => {
    expectTypeOf(event.data.conversation_id).toExtend<string>()
    // @ts-expect-error: not in the schema
    void event.data.resolved_by
  })
  .on('test.merged', event => {
    expectTypeOf(event.data).toEqualTypeOf<{ merged_id: string }>()
  })

// Narrowing by isEvent gives the schemas' types.
withSchemas.on('*', event => {
  if (isEvent(event, 'conversation.resolved')) {
    expectTypeOf(event.data.conversation_id).toExtend<string & z.core.$brand<'conversation'>>()
    // @ts-expect-error: not in the schema
    void event.data.resolved_by
  } else if (isEvent(event, 'message.delivered')) {
    expectTypeOf(event.data).toEqualTypeOf<{ message_id: string; count: number }>()
  } else if (isEvent(event, 'test.merged')) {
    expectTypeOf(event.data).toEqualTypeOf<{ merged_id: string }>()
  }
  // @ts-expect-error: not a known type
  isEvent(event, 'planet.aligned')
})
withSchemas.on('message.*', event => {
  if (event.type === 'message.delivered') expectTypeOf(event.data.count).toEqualTypeOf<number>()
  else if (isEvent(event, 'message.delivered')) expectTypeOf(event.data.count).toEqualTypeOf<number>()
})
withSchemas.on(['message.*', 'a.b'], event => {
  if (isEvent(event, 'message.delivered')) expectTypeOf(event.data.count).toEqualTypeOf<number>()
})
withSchemas
  .onUnhandled(event => {
    if (isEvent(event, 'message.delivered')) expectTypeOf(event.data.count).toEqualTypeOf<number>()
  })
  .onDeadLetter((_, event) => {
    if (event !== undefined && isEvent(event, 'message.delivered'))
      expectTypeOf(event.data.count).toEqualTypeOf<number>()
  })
withSchemas.on('*', (event: WebhookEvent) => void event.data)

// Handlers may return anything, synchronously or not, and every on… can be chained.
expectTypeOf(receiver.on('a.b', () => 7).onUnhandled(async () => {})).toEqualTypeOf(receiver)
receiver
  .onError((failure, event) => {
    expectTypeOf(failure.error).toBeUnknown()
    expectTypeOf(failure.retryInMs).toEqualTypeOf<number | undefined>()
    expectTypeOf(event).toEqualTypeOf<WebhookEvent | undefined>()
  })
  .onDeadLetter(async () => {})
// @ts-expect-error: no handler
receiver.on('a.b')
// @ts-expect-error: no function
receiver.on('a.b', 'handler')

// The request's context reaches the secret and the namespace.
const tenants = createReceiver<Record<never, never>, { tenant: string }>({
  secret: context => {
    expectTypeOf(context).toEqualTypeOf<{ tenant: string }>()
    return Promise.resolve([secret])
  },
  namespace: context => context.tenant,
})
expectTypeOf(tenants.handle).parameter(0).toHaveProperty('context').toEqualTypeOf<{ tenant: string }>()
createReceiver({
  // @ts-expect-error: a secret is not a number
  secret: () => 7,
})

// Options.
createReceiver({ secret: process.env['SIGNING_SECRET'], tolerance: '5m', retry: { minDelay: '1.5s' } })
// @ts-expect-error: a secret is needed
createReceiver({})
// @ts-expect-error: misspelled
createReceiver({ secret, tolerence: '5m' })
// @ts-expect-error: no unit
createReceiver({ secret, tolerance: '5' })
// @ts-expect-error: true is not a tolerance
createReceiver({ secret, tolerance: true })
// @ts-expect-error: not a Standard Schema
createReceiver({ secret, events: { 'a.b': {} } })
expectTypeOf<{ secret: string; logger: Console }>().toExtend<ReceiverOptions>()
