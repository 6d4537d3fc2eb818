import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryInbox, type Receiver } from '@ackhook/core'
import { webhooks as onExpress } from '@ackhook/express'
import { webhooks as onFastify } from '@ackhook/fastify'
import { sqliteInbox } from '@ackhook/sqlite'
import { createEvent, type SignOptions, signedRequest } from '@ackhook/testing'
import express from 'express'
import Fastify from 'fastify'
import supertest from 'supertest'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { recordingLogger, SECRET } from '../support/receiving.ts'

type Signed = ReturnType<typeof signedRequest>
type Options = ReturnType<typeof optionsWith>
interface Reply {
  readonly status: number
  readonly code: string
}
/** An app as in its quick start, and its test client as in the page about tests. */
interface Journey {
  readonly hooks: Pick<Receiver, 'on' | 'start' | 'close'>
  readonly send: (request: Signed) => Promise<Reply>
}

const FRAMEWORKS: Readonly<Record<string, (options: Options) => Promise<Journey>>> = {
  async 'Express, by supertest'(options) {
    const hooks = onExpress(options)
    const app = express()
    app.post('/webhooks', hooks)
    app.use(express.json())
    const send = async (request: Signed): Promise<Reply> => {
      const reply = await supertest(app).post('/webhooks').set(request.headers).send(request.body)
      return { status: reply.status, code: reply.body.code }
    }
    return { hooks, send }
  },
  async 'Fastify, by its `inject`'(options) {
    const app = Fastify()
    await app.register(onFastify, { path: '/webhooks', ...options })
    onTestFinished(() => app.close())
    const send = async (request: Signed): Promise<Reply> => {
      const reply = await app.inject({ url: '/webhooks', ...request })
      return { status: reply.statusCode, code: reply.json().code }
    }
    return { hooks: app.webhooks, send }
  },
}

const EVENT = createEvent('conversation.resolved', { data: { conversation_id: 'cnv_7' } })
const signed = (options: Partial<SignOptions> = {}) => signedRequest(EVENT, { secret: SECRET, ...options })

function optionsWith(inbox: ReturnType<typeof memoryInbox> | ReturnType<typeof sqliteInbox> = memoryInbox()) {
  const retry = { attempts: 2, minDelay: '1ms' } as const
  return { secret: SECRET, logger: recordingLogger(), inbox, retry }
}

describe.each(Object.entries(FRAMEWORKS))('%s', (_, mount) => {
  async function start(inbox?: Parameters<typeof optionsWith>[0]): Promise<Journey> {
    const journey = await mount(optionsWith(inbox))
    onTestFinished(async () => void (await journey.hooks.close()))
    return journey
  }

  test('a genuine event is acknowledged before its handler has ended, and handled with its data', async () => {
    const { hooks, send } = await start()
    let end = (): void => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const handled: unknown[] = []
    hooks.on('conversation.resolved', async event => {
      await ended
      handled.push(event.data.conversation_id)
    })
    expect(await send(signed())).toEqual({ status: 202, code: 'accepted' })
    expect(handled).toEqual([])
    end()
    await vi.waitFor(() => expect(handled).toEqual(['cnv_7']))
  })

  test('a delivery that is repeated is acknowledged and not handled again', async () => {
    const { hooks, send } = await start()
    const handled = vi.fn()
    hooks.on('*', () => handled())
    await send(signed())
    await vi.waitFor(() => expect(handled).toHaveBeenCalledOnce())
    expect(await send(signed())).toEqual({ status: 200, code: 'duplicate' })
    await hooks.close()
    expect(handled).toHaveBeenCalledOnce()
  })

  test('a forged, a stale and a changed delivery are refused, and nothing runs', async () => {
    const { hooks, send } = await start()
    const handled = vi.fn()
    hooks.on('*', () => handled())
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
    await hooks.close()
    expect(handled).not.toHaveBeenCalled()
  })

  test('an event whose handler keeps failing becomes a dead letter, and runs again after its redrive', async () => {
    const inbox = memoryInbox()
    const { hooks, send } = await start(inbox)
    let attempts = 0
    hooks.on('*', () => {
      attempts++
      if (attempts <= 2) throw new Error('the CRM is down')
    })
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
    const first = await start(sqliteInbox({ path }))
    first.hooks.on(
      '*',
      (_event, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
    )
    await first.hooks.start()
    expect(await first.send(signed())).toEqual({ status: 202, code: 'accepted' })
    await first.hooks.close({ timeout: '50ms' })

    const { hooks: second } = await start(sqliteInbox({ path }))
    const handled = vi.fn()
    second.on('conversation.resolved', event => handled(event.id))
    await second.start()
    await vi.waitFor(() => expect(handled).toHaveBeenCalledExactlyOnceWith(EVENT.id))
  })
})
