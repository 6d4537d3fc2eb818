import { createReceiver } from '@ackhook/core'
import { type Context, Hono } from 'hono'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { webhooks, webhooksOf } from './index.ts'

const hooks = webhooks({ secret: c => c.env.SIGNING_SECRET, namespace: c => c.req.param('workspace') ?? '' })

new Hono().post('/webhooks', hooks)
new Hono<{ Bindings: { OTHER: string } }>().all('/webhooks/:workspace', hooks)

hooks.on('conversation.resolved', event => {
  expectTypeOf(event.data.conversation_id).toEqualTypeOf<string>()
})
hooks.on('of.tomorrow', event => {
  expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>()
})

interface Env {
  Bindings: { SIGNING_SECRET: string }
}
const typed = webhooks({ secret: (c: Context<Env>) => c.env.SIGNING_SECRET })
new Hono<Env>().post('/webhooks', typed)

// @ts-expect-error: nothing of that name is bound
webhooks({ secret: (c: Context<Env>) => c.env.SECRET })
// @ts-expect-error: no such option
webhooks({ secret: 'x', secrets: [] })

const shared = webhooksOf(createReceiver({ secret: 'x', events: { 'a.b': z.object({ n: z.number() }) } }))
new Hono().post('/webhooks', shared)
shared.on('a.b', event => {
  expectTypeOf(event.data).toEqualTypeOf<{ n: number }>()
})

const strict = webhooks({ secret: 'a secret of some bytes', strict: true })
new Hono().post('/webhooks', strict)
strict.on('conversation.*', () => {})
// @ts-expect-error: misspelled
strict.on('conversation.resolve', () => {})
