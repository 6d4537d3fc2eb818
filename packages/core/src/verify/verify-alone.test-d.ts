import { isEvent, type RefusalCode, verifyRequest } from '@ackhook/core'
import { verifyRequest as verifyFetch } from '@ackhook/core/fetch'
import { expectTypeOf } from 'vitest'

const result = await verifyRequest({ headers: {}, body: '', secret: process.env['SIGNING_SECRET'] })

// One of the two, and the compiler knows which.
if (result.event === undefined) {
  expectTypeOf(result.reason).toEqualTypeOf<RefusalCode>()
  expectTypeOf(result.detail).toEqualTypeOf<string>()
} else {
  expectTypeOf(result.reason).toEqualTypeOf<undefined>()
  if (isEvent(result.event, 'conversation.resolved')) {
    expectTypeOf(result.event.data.conversation_id).toEqualTypeOf<string>()
    // @ts-expect-error: misspelled
    void result.event.data.conversationId
  }
}
// @ts-expect-error: it may be refused
void result.event.id

expectTypeOf(await verifyFetch(new Request('http://a'), { secret: ['a', 'b'] })).toEqualTypeOf(result)
// @ts-expect-error: a parsed body
await verifyRequest({ headers: {}, body: { id: 'evt_1' }, secret: 'x' })
// @ts-expect-error: a receiver's option
await verifyRequest({ headers: {}, body: '', secret: 'x', retry: { attempts: 1 } })
