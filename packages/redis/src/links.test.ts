import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { Links } from './links.ts'
import type { RedisClient } from './redis-client.ts'

it('listens to both errors of a TLS socket of its own that is closed during its handshake', async () => {
  const stream = new EventEmitter()
  const own = Object.assign(new EventEmitter(), { stream })
  const client = { status: 'ready', on: () => {}, duplicate: () => own } as unknown as RedisClient
  expect(new Links(client, { ownOnly: true }).any.connection.client).toBe(own)
  own.emit('connecting')
  // What ioredis does.
  stream.once('error', () => {})
  await new Promise(setImmediate)
  for (const text of ['read ECONNRESET', 'before secure TLS connection was established'])
    expect(stream.emit('error', new Error(text))).toBe(true)
})
