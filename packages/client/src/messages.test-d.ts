import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { Client, type SendResult } from './index.ts'

const { messages } = new Client({ apiKey: 'key', baseUrl: 'https://api.example.com' })
const message = { channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }

expectTypeOf(messages.send(message)).toEqualTypeOf<Promise<SendResult<unknown>>>()
const schema = z.object({ id: z.string() })
expectTypeOf(messages.send(message, { schema })).toEqualTypeOf<Promise<SendResult<{ id: string }>>>()

// @ts-expect-error: a body has its own type only with a schema
void messages.send<{ id: string }>(message)
// @ts-expect-error: a number without a unit
void messages.send(message, { timeout: 30 })
// @ts-expect-error: a field that does not exist
void messages.send({ channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped', variable: {} })
