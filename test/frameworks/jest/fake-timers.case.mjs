import { createServer, request } from 'node:http'
import { webhooks } from '@ackhook/express'
import { sign } from '@ackhook/testing'
import express from 'express'

const secret = 'whsec_jest_0123456789'
const quiet = { info() {}, warn() {}, error() {} }
const closing = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Returns the reply's status. Uses `node:http`: Node's fetch waits for timers, which are all fake here. */
async function statusOf({ key = secret, ...options } = {}) {
  const hooks = webhooks({ secret, logger: quiet, ...options }).on('*', () => {
    if (options.acknowledge) throw new Error('the handler fails')
  })
  const server = createServer(express().post('/webhooks', hooks))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  const data = { conversation_id: 'cnv_1' }
  const event = { id: 'evt_1', type: 'conversation.resolved', created_at: '2026-01-01T00:00:00Z', data }
  const body = JSON.stringify(event)
  const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body, { secret: key }) }
  const { port } = server.address()
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path: '/webhooks', method: 'POST', headers, agent: false }
    request(options, reply => resolve(reply.resume().statusCode))
      .on('error', reject)
      .end(body)
  })
}

test('a genuine event gets 202 while time stands still', async () => {
  expect(setTimeout.clock).toBeDefined()
  expect(await statusOf()).toBe(202)
})

test('a forged one gets 401', async () => {
  expect(await statusOf({ key: 'whsec_somebody_elses' })).toBe(401)
})

test('a failing handler causes 500 if the reply waits for it', async () => {
  expect(await statusOf({ acknowledge: 'after-processing' })).toBe(500)
})
