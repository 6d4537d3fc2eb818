import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { webhooks } from '@ackhook/hono'
import { sign } from '@ackhook/testing'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { expect, it, onTestFinished } from 'vitest'

const secret = 'whsec_read_before_0123456789'
const body = '{"id":"evt_1","type":"a.b","created_at":"2026-01-01T00:00:00Z","data":{}}'

/** Serves Hono behind an Express parser that has read the body. */
async function serve(errors: string[]): Promise<string> {
  const logger = { info() {}, warn() {}, error: (_: object, message: string) => void errors.push(message) }
  const hono = new Hono()
  hono.post('/webhooks', webhooks({ secret, logger }))
  const app = express().use(express.json())
  app.use((incoming, outgoing) => void getRequestListener(hono.fetch)(incoming, outgoing))
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

it.each<[string, () => RequestInit]>([
  ['with a Content-Length', () => ({ body })],
  ['in chunks', () => ({ body: new Blob([body]).stream(), duplex: 'half' }) as RequestInit],
])('a body that a parser before Hono has read is unavailable, sent %s', async (_, sent) => {
  const errors: string[] = []
  const url = await serve(errors)
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, { secret }) }
  const reply = await fetch(url, { method: 'POST', headers, ...sent() })
  expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('body_unavailable')])
  expect(errors).toEqual([expect.stringContaining('something read the body first')])
})
