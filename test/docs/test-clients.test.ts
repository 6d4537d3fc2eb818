import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { webhooks as onExpress } from '@ackhook/express'
import { webhooks as onFastify } from '@ackhook/fastify'
import { webhooks as onHono } from '@ackhook/hono'
import { createEvent, sign, signedRequest } from '@ackhook/testing'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import supertest from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { recordingLogger, SECRET } from '../support/receiving.ts'
import { callAsPrinted, statusOf } from './documented-clients.ts'

const options = () => ({ secret: SECRET, logger: recordingLogger() })
const request = () =>
  signedRequest(createEvent('conversation.resolved', { data: { resolved_by: 'grün 1️⃣' } }), { secret: SECRET })

function expressApp(logger = recordingLogger()) {
  const hooks = onExpress({ secret: SECRET, logger })
  onTestFinished(async () => void (await hooks.close()))
  hooks.on('*', () => {})
  return express().post('/webhooks', hooks)
}

/** Apps that answer a call without a socket of the test's own, or with one. */
const NAMES = {
  supertest: async () => ({ supertest, app: expressApp() }),
  async "Fastify's `inject`"() {
    const app = Fastify()
    await app.register(onFastify, { ...options(), path: '/webhooks' })
    onTestFinished(() => app.close())
    return { app }
  },
  async "Hono's `request`"() {
    const hooks = onHono(options())
    onTestFinished(async () => void (await hooks.close()))
    return { app: new Hono().post('/webhooks', hooks) }
  },
  async 'undici, node-fetch'() {
    const receiver = createReceiver(options())
    const server = createServer(toNodeHandler(receiver)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      server.close()
      await receiver.close()
    })
    return { fetch, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks` }
  },
}

test.each(Object.entries(NAMES))('%s sends a signed request as the page prints it', async (client, start) => {
  expect(statusOf(await callAsPrinted(client, request(), await start()))).toBe(202)
})

describe('supertest', () => {
  test('sends text, the bytes of an event, and bytes that it is told to leave alone', async () => {
    const { headers, body } = request()
    const post = () => supertest(expressApp()).post('/webhooks').set(headers)
    expect((await post().send(String(body))).status).toBe(202)
    expect((await post().send(body)).status).toBe(202)
    expect(
      (
        await post()
          .serialize((bytes: unknown) => bytes as string)
          .send(Buffer.from(body))
      ).status,
    ).toBe(202)
  })

  test.each([
    ['a Uint8Array', (text: string) => new TextEncoder().encode(text)],
    ['a Buffer', (text: string) => Buffer.from(text)],
  ])('is named in the log if it has converted %s', async (_, bytesOf) => {
    const text = JSON.stringify(createEvent('conversation.resolved'))
    const logger = recordingLogger()
    const reply = await supertest(expressApp(logger))
      .post('/webhooks')
      .set({ 'content-type': 'application/json', 'x-service-signature': sign(text, { secret: SECRET }) })
      .send(bytesOf(text))
    expect(reply.status).toBe(401)
    expect(JSON.stringify(logger.lines)).toContain('.send(body.toString()) in supertest')
  })
})

test('a body that is not the text of JSON.stringify keeps its bytes in clients that take bytes or text', async () => {
  for (const raw of ['{ "id": 1 }', 'not json', '\uFEFF{}', Uint8Array.of(0xff, 0xfe)]) {
    const { body } = signedRequest(raw, { secret: SECRET })
    expect([...body]).toEqual([...(typeof raw === 'string' ? new TextEncoder().encode(raw) : raw)])
    expect(JSON.parse(JSON.stringify(body))).toEqual({ type: 'Buffer', data: [...body] })
  }
})
