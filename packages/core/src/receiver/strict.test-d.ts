import { createReceiver, isEvent, type Receiver, toFetchHandler } from '@ackhook/core'
import { gracefulShutdown, toNodeHandler } from '@ackhook/core/node'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'

const secret = 'a secret of some bytes'
const events = { 'order.sent': z.object({ order: z.string() }) }

const hooks = createReceiver({ secret, events, strict: true })
hooks
  .on('conversation.resolved', event => {
    expectTypeOf(event.data.resolved_by).toExtend<string>()
  })
  .on('order.sent', event => {
    expectTypeOf(event.data).toEqualTypeOf<{ order: string }>()
  })
  .on(['conversation.resolved', 'order.sent'], () => {})
  .on('order.*', event => {
    if (event.type === 'order.sent') expectTypeOf(event.data.order).toEqualTypeOf<string>()
  })
  .on('*', event => {
    if (isEvent(event, 'order.sent')) expectTypeOf(event.data.order).toEqualTypeOf<string>()
  })
  .onUnhandled(event => {
    expectTypeOf(event.type).toEqualTypeOf<string>()
  })

// @ts-expect-error: misspelled
hooks.on('conversation.resolve', () => {})
// @ts-expect-error: misspelled, in a list
hooks.on(['conversation.resolved', 'order.send'], () => {})
// @ts-expect-error: no event has this category
hooks.on('orders.*', () => {})
// @ts-expect-error: not known here
hooks.on('ticket.created', () => {})
// @ts-expect-error: any string is not a known type
hooks.on('conversation.resolved' as string, () => {})

// Everything that takes a receiver takes a strict one.
toFetchHandler(hooks)
toNodeHandler(hooks)
gracefulShutdown(hooks)
expectTypeOf(hooks.close).toEqualTypeOf<Receiver['close']>()

// Without the option, or if only the program knows, any type is taken.
createReceiver({ secret, events }).on('ticket.created', () => {})
createReceiver({ secret, strict: false }).on('ticket.created', () => {})
createReceiver({ secret, strict: Math.random() > 2 }).on('ticket.created', () => {})
createReceiver<typeof events>({ secret, events }).on('ticket.created', () => {})
