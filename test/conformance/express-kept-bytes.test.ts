import { captureRawBody, webhooks } from '@ackhook/express'
import { sign } from '@ackhook/testing'
import express from 'express'
import express4 from 'express4'
import request from 'supertest'
import { describe, expect, it } from 'vitest'

const secret = 'whsec_kept_bytes_0123456789'
const body = '{"id":"evt_1","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{"note":"\\u00e9"} }'
const quiet = { info() {}, warn() {}, error() {} }

describe.each([
  ['Express 4', express4],
  ['Express 5', express],
])('%s', (_name, framework) => {
  const send = (app: express.Express) =>
    request(app)
      .post('/webhooks')
      .set('Content-Type', 'application/json')
      .set('X-Service-Signature', sign(body, { secret }))
      .send(body)

  it('uses the bytes that express.raw read', async () => {
    const app = framework().use(framework.raw({ type: '*/*' }))
    app.post('/webhooks', webhooks({ secret }))
    await send(app).expect(202)
  })

  it('uses the bytes that captureRawBody kept of a parsed body', async () => {
    const app = framework().use(framework.json({ verify: captureRawBody }))
    app.post('/webhooks', webhooks({ secret }))
    await send(app).expect(202)
  })

  it('explains the fix if the bytes are gone', async () => {
    const errors: string[] = []
    const logger = { ...quiet, error: (_fields: object, message: string) => void errors.push(message) }
    const app = framework().use(framework.json())
    app.post('/webhooks', webhooks({ secret, logger }))
    await send(app).expect(500, /body_unavailable/)
    expect(errors.join()).toContain('captureRawBody')
  })
})
