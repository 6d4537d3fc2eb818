import { createServer } from 'node:http'
import { webhooks } from '@ackhook/hono'
import { sign } from '@ackhook/testing'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import request from 'supertest'
import { expect, it } from 'vitest'

const secret = 'whsec_read_before_0123456789'
const body = '{"id":"evt_1","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{}}'
const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': '' }

/** Hono behind a parser of Express that has read the body. */
function serve(errors: string[]) {
  const logger = { info() {}, warn() {}, error: (_: object, message: string) => void errors.push(message) }
  const hono = new Hono()
  hono.post('/webhooks', webhooks({ secret, logger }))
  const app = express().use(express.json())
  app.use((incoming, outgoing) => void getRequestListener(hono.fetch)(incoming, outgoing))
  return createServer(app)
}

it.each([['with a Content-Length'], ['in chunks']])(
  'a body that a parser in front of Hono has read is unavailable, sent %s',
  async how => {
    const errors: string[] = []
    const sending = request(serve(errors))
      .post('/webhooks')
      .set({ ...headers, 'X-Service-Signature': sign(body, { secret }) })
    if (how === 'in chunks') sending.set('Transfer-Encoding', 'chunked')
    await sending.send(body).expect(500, /body_unavailable/)
    expect(errors).toEqual([expect.stringContaining('something read the body first')])
  },
)
