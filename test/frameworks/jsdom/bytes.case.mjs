import { createServer } from 'node:http'
import { captureRawBody } from '@ackhook/core/node'
import { webhooks } from '@ackhook/express'
import { sign } from '@ackhook/testing'
import express from 'express'
import { expect, it, onTestFinished } from 'vitest'

const secret = 'whsec_jsdom_0123456789'
const quiet = { info() {}, warn() {}, error() {} }

/** Returns the status of an app's reply, with `before` mounted before the hooks. */
async function statusOf(before, { key = secret, ...options } = {}) {
  const hooks = webhooks({ secret, logger: quiet, ...options }).on('*', () => {
    if (options.acknowledge) throw new Error('the handler fails')
  })
  const server = createServer(express().use(before).post('/webhooks', hooks))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => void hooks.close())
  const data = { conversation_id: 'cnv_1' }
  const event = { id: 'evt_1', type: 'conversation.resolved', created_at: '2026-01-01T00:00:00Z', data }
  const body = `${JSON.stringify(event)}\n`
  const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body, { secret: key }) }
  const url = `http://127.0.0.1:${server.address().port}/webhooks`
  return (await fetch(url, { method: 'POST', body, headers })).status
}

it('uses the bytes from captureRawBody', async () => {
  // Ensures that the test is meaningful.
  expect(Buffer.from('') instanceof Uint8Array).toBe(false)
  expect(await statusOf(express.json({ verify: captureRawBody }))).toBe(202)
})

it('uses the bytes from express.raw', async () => {
  expect(await statusOf(express.raw({ type: '*/*' }))).toBe(202)
})

it('refuses a forged event', async () => {
  expect(await statusOf(express.raw({ type: '*/*' }), { key: 'whsec_somebody_elses' })).toBe(401)
})

it('returns 500 if the reply waits for a handler that fails', async () => {
  expect(await statusOf((_request, _response, next) => next(), { acknowledge: 'after-processing' })).toBe(500)
})
