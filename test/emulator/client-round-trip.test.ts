import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@ackhook/client'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { type Emulator, startEmulator } from '@ackhook/emulator'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { until } from '../support/until.ts'

const secret = 'whsec_only-for-this-test'
const message = { channel: 'whatsapp', to: '+4915112345678', template: 'order_shipped' }
const aboutMessage = z.object({ message_id: z.string(), to: z.string() })

const seen: { type: string; message: string }[] = []
const replies: Promise<unknown>[] = []
const receiver = () =>
  createReceiver({
    secret,
    events: {
      'message.sent': aboutMessage,
      'message.delivered': aboutMessage,
      'message.received': z.object({ message_id: z.string(), from: z.string(), text: z.string() }),
    },
  })

let emulator: Emulator
let client: Client
let stop: () => Promise<void>

beforeEach(async () => {
  const hooks = receiver()
  const server = createServer(toNodeHandler(hooks)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  emulator = await startEmulator({ port: 0, secret, to: `http://127.0.0.1:${port}/webhooks` })
  client = new Client({ apiKey: 'any-key', baseUrl: emulator.url })
  // The schemas provide the types: a misspelled field does not compile.
  hooks.on('message.sent', ({ type, data }) => seen.push({ type, message: data.message_id }))
  hooks.on('message.delivered', ({ type, data }) => seen.push({ type, message: data.message_id }))
  hooks.on('message.received', ({ data }) => {
    replies.push(client.messages.send({ ...message, to: data.from, variables: { asked: data.text } }))
  })
  stop = async () => {
    await emulator.close()
    await hooks.close()
    server.close()
  }
})
afterEach(async () => {
  await stop()
  seen.length = 0
  replies.length = 0
})

it('goes from a message through its events to a typed handler', async () => {
  const schema = z.object({ id: z.string() })
  const { status, headers, body } = await client.messages.send(message, { schema })
  expect([status, headers.get('x-emulator-guess')]).toEqual([202, 'true'])
  await emulator.api.messages.advance(body.id, 'sent')
  await emulator.wait({ type: 'message.sent', state: 'acknowledged' })
  await emulator.api.messages.advance(body.id, 'delivered')
  await emulator.wait({ message: body.id, state: 'acknowledged', count: 2 })
  await until('both are handled', () => seen.length === 2)
  expect(seen).toEqual([
    { type: 'message.sent', message: body.id },
    { type: 'message.delivered', message: body.id },
  ])
})

it("goes from a customer's message through a handler to the reply", async () => {
  await emulator.api.messages.receive({ from: '+4915187654321', text: 'Where is my order?' })
  await until('the handler has answered', () => replies.length === 1)
  expect(await replies[0]).toMatchObject({ status: 202 })
  const { messages } = await emulator.api.messages.list()
  expect(messages).toMatchObject([
    { direction: 'outbound', to: '+4915187654321', variables: { asked: 'Where is my order?' } },
    { direction: 'inbound', from: '+4915187654321' },
  ])
})

it('reports the field that the platform rejects', async () => {
  const error = await client.messages.send({ ...message, to: '+49 151' }).catch(thrown => thrown)
  expect(error).toMatchObject({ code: 'api', status: 400, body: { error: { field: 'to' } } })
})
