import { ConfigurationError, createReceiver, memoryStore } from '@ackhook/core'
import { expect, it } from 'vitest'
import { cloudflareQueueInbox } from './cloudflare-queue-inbox.ts'
import { durableObjectStore } from './durable-object-store.ts'
import { toQueueHandler } from './to-queue-handler.ts'

const secret = 'only-for-trying-it-out'
const queue = { send: async () => {} }
const options = { store: memoryStore(), deadLetters: queue }
const receiver = (more: object) =>
  createReceiver({ secret, inbox: cloudflareQueueInbox(queue, options), ...more })

it.each([
  ['queue', () => cloudflareQueueInbox('events' as never, options)],
  ['deadLetters', () => cloudflareQueueInbox(queue, { store: memoryStore() } as never)],
  ['dead', () => cloudflareQueueInbox(queue, { ...options, dead: queue } as never)],
  ['lease', () => cloudflareQueueInbox(queue, { ...options, lease: '1s' })],
  ['namespace', () => durableObjectStore('EVENT_IDS' as never)],
  ['shards', () => durableObjectStore({ idFromName() {}, get() {} } as never, { shards: 0 })],
  ['serializeBy', () => receiver({ serializeBy: () => 'a' })],
  ['deadLetterRetention', () => receiver({ deadLetterRetention: '10d' })],
  ['handlerTimeout', () => receiver({ handlerTimeout: '15m' })],
  ['inbox', () => toQueueHandler(createReceiver({ secret }))],
])('refuses a wrong %s by its name', (option, create) => {
  expect(create).toThrow(ConfigurationError)
  expect(create).toThrow(expect.objectContaining({ option }))
})
