import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver, memoryInbox } from '@ackhook/core'
import { webhooksOf as onExpress } from '@ackhook/express'
import { webhooksOf as onFastify } from '@ackhook/fastify'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, type SignOptions, signedRequest } from '@ackhook/testing'
import express from 'express'
import Fastify from 'fastify'
import supertest from 'supertest'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { recordingLogger, SECRET } from '../support/receiving.ts'

type Signed = ReturnType<typeof signedRequest>
type TestedReceiver = ReturnType<typeof receiverOn>
interface Reply {
  readonly status: number
  readonly code: string
}
/** An app with the receiver at /webhooks. Returns what sends one delivery, as the page about tests prints it. */
type MountOn = (receiver: TestedReceiver) => Promise<(request: Signed) => Promise<Reply>>

const FRAMEWORKS: Readonly<Record<string, MountOn>> = {
  async 'Express, by supertest'(receiver) {
    const app = express().post('/webhooks', onExpress(receiver))
    return async request => {
      const reply = await supertest(app).post('/webhooks').set(request.headers).send(request.body)
      return { status: reply.status, code: reply.body.code }
    }
  },
  async 'Fastify, by its `inject`'(receiver) {
    const app = Fastify()
    await app.register(onFastify(receiver), { path: '/webhooks' })
    onTestFinished(() => app.close())
    return async request => {
      const reply = await app.inject({ url: '/webhooks', ...request })
      return { status: reply.statusCode, code: reply.json().code }
    }
  },
}

const EVENT = createEvent('conversation.resolved', { data: { conversation_id: 'cnv_7' } })
const signed = (options: Partial<SignOptions> = {}) => signedRequest(EVENT, { secret: SECRET, ...options })

function receiverOn(inbox: ReturnType<typeof memoryInbox> | ReturnType<typeof sqliteInbox> = memoryInbox()) {
  const retry = { attempts: 2, minDelay: '1ms' } as const
  const receiver = createReceiver({ secret: SECRET, logger: recordingLogger(), inbox, retry })
  onTestFinished(async () => void (await receiver.close()))
  return receiver
}

describe.each(Object.entries(FRAMEWORKS))('%s', (_, mount) => {
  test('a genuine event is acknowledged before its handler has ended, and handled with its data', async () => {
    const receiver = receiverOn()
    let end = (): void => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const handled: unknown[] = []
    receiver.on('conversation.resolved', async event => {
      await ended
      handled.push(event.data.conversation_id)
    })
    const send = await mount(receiver)
    expect(await send(signed())).toEqual({ status: 202, code: 'accepted' })
    expect(handled).toEqual([])
    end()
    await vi.waitFor(() => expect(handled).toEqual(['cnv_7']))
  })

  test('a delivery that is repeated is acknowledged and not handled again', async () => {
    const receiver = receiverOn()
    const handled = vi.fn()
    receiver.on('*', () => handled())
    const send = await mount(receiver)
    await send(signed())
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce())
    expect(await send(signed())).toEqual({ status: 200, code: 'duplicate' })
    await receiver.close()
    expect(handled).toHaveBeenCalledOnce()
  })

  test('a forged, a stale and a changed delivery are refused, and nothing runs', async () => {
    const receiver = receiverOn()
    const handled = vi.fn()
    receiver.on('*', () => handled())
    const send = await mount(receiver)
    const old = Math.floor(Date.now() / 1000) - 3600
    const changed = {
      ...signed(),
      body: signed().body.map(byte => (byte === 0x37 ? 0x38 : byte)) as Signed['body'],
    }
    for (const request of [
      signed({ secret: 'another-secret-of-16-bytes' }),
      signed({ timestamp: old }),
      changed,
    ])
      expect(await send(request)).toMatchObject({ status: 401 })
    await receiver.close()
    expect(handled).not.toHaveBeenCalled()
  })

  test('an event whose handler keeps failing becomes a dead letter, and runs again after its redrive', async () => {
    const inbox = memoryInbox()
    const receiver = receiverOn(inbox)
    let attempts = 0
    receiver.on('*', () => {
      attempts++
      if (attempts <= 2) throw new Error('the CRM is down')
    })
    const send = await mount(receiver)
    await send(signed())
    const letters = await vi.waitFor(async () => {
      const found = await inbox.deadLetters.list()
      expect(found).toHaveLength(1)
      return found
    })
    expect(letters[0]).toMatchObject({ attempts: 2, reason: 'Error: the CRM is down' })
    expect(await inbox.deadLetters.redrive(letters[0]?.key ?? '')).toBe(true)
    await vi.waitFor(() => expect(attempts).toBe(3))
    expect(await inbox.deadLetters.list()).toEqual([])
  })

  test('an event that a process has acknowledged and not handled is handled by the next one', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'journey-')), 'webhooks.db')
    const first = receiverOn(sqliteInbox({ path }))
    first.on(
      '*',
      (_event, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    )
    const send = await mount(first)
    expect(await send(signed())).toEqual({ status: 202, code: 'accepted' })
    await first.close({ timeout: '50ms' })

    const second = receiverOn(sqliteInbox({ path }))
    const handled = vi.fn()
    second.on('conversation.resolved', event => handled(event.id))
    await second.start()
    await vi.waitFor(() => expect(handled).toHaveBeenCalledExactlyOnceWith(EVENT.id))
  })
})
