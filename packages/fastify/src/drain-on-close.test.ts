import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, expect, it, vi } from 'vitest'
import { eventBody, SECRET, sign } from '../../../test/support/receiving.ts'
import { type FastifyReceiver, webhooks } from './index.ts'

const leftovers: (() => unknown)[] = []

afterEach(async () => {
  for (const clear of leftovers.splice(0)) await clear()
})

/** A promise that the test resolves, at its end at the latest. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  leftovers.unshift(open)
  return { opened, open }
}

/** Starts an app whose handler runs until the test releases it. */
async function appAtWork(
  options: FastifyServerOptions = {},
  afterwards: (app: FastifyInstance) => void = () => {},
) {
  // A connection that was in use would delay `close` for Fastify's default of 72 s.
  const app = Fastify({ keepAliveTimeout: 100, ...options })
  leftovers.push(() => app.close())
  const handler = gate()
  const finished: string[] = []
  await app.register(webhooks, { secret: SECRET })
  app.webhooks.on('*', async event => {
    await handler.opened
    finished.push(event.id)
  })
  afterwards(app)
  const url = await app.listen({ port: 0 })
  const post = (path: string, id: string): Promise<Response> => {
    const body = eventBody({ id })
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
    }
    return fetch(url + path, { method: 'POST', headers, body })
  }
  expect((await post('/webhooks', 'evt_1')).status).toBe(202)
  await vi.waitFor(async () => expect((await app.webhooks.stats()).active).toBe(1))
  return { app, post, finished, finish: handler.open }
}

/** Asks the receiver itself: the server may accept no more requests. */
async function statusOf(receiver: FastifyReceiver): Promise<number> {
  const request = { method: 'POST', headers: {}, body: new Uint8Array(), context: undefined as never }
  return (await receiver.handle(request)).status
}

async function untilDraining({ webhooks: receiver }: FastifyInstance): Promise<void> {
  await vi.waitFor(async () => expect(await statusOf(receiver)).toBe(503))
}

it('drains while a request of another route still holds its connection', async () => {
  const other = gate()
  const arrived = vi.fn(() => other.opened.then(() => ({ ok: true })))
  const { app, post, finished, finish } = await appAtWork({}, one => {
    one.post('/other', arrived)
  })
  const reply = post('/other', 'evt_2')
  await vi.waitFor(() => expect(arrived).toHaveBeenCalled())
  const closed = app.close()
  await untilDraining(app)
  finish()
  await vi.waitFor(() => expect(finished).toEqual(['evt_1']))
  other.open()
  expect((await reply).status).toBe(200)
  await closed
})

it('keeps resources of later plugins open while a handler runs', async () => {
  const closed: string[] = []
  const { app, finished, finish } = await appAtWork({}, one => {
    one.addHook('onClose', async () => void closed.push(...finished, 'database'))
  })
  const closing = app.close()
  await untilDraining(app)
  finish()
  await closing
  expect(closed).toEqual(['evt_1', 'database'])
})

it('waits for a drain that takes longer than Fastify allows a hook', async () => {
  const next = vi.fn()
  // Also the time in which the app must have started, on a busy machine.
  const { app, finished, finish } = await appAtWork({ pluginTimeout: 3000 }, one => {
    one.addHook('onClose', async () => next())
  })
  const closing = app.close().then(() => [...finished])
  await vi.waitFor(() => expect(next).toHaveBeenCalled())
  finish()
  expect(await closing).toEqual(['evt_1'])
})

it('drains if Fastify sets no time limit for hooks', async () => {
  const { app, finished, finish } = await appAtWork({ pluginTimeout: 0 })
  const closing = app.close()
  await untilDraining(app)
  finish()
  await closing
  expect(finished).toEqual(['evt_1'])
})

it('drains all registrations of the app in parallel, whatever their scopes', async () => {
  const others: FastifyReceiver[] = []
  const { app, finish } = await appAtWork({}, one => {
    for (const prefix of ['/second', '/third']) {
      one.register(
        async scope => {
          await scope.register(webhooks, { secret: SECRET, decorateAs: 'other' })
          others.push((scope as unknown as { other: FastifyReceiver }).other)
        },
        { prefix },
      )
    }
  })
  const closing = app.close()
  await untilDraining(app)
  expect(await Promise.all(others.map(statusOf))).toEqual([503, 503])
  finish()
  await closing
})

it("leaves another app's receiver running", async () => {
  const first = await appAtWork()
  const second = await appAtWork()
  const closing = first.app.close()
  await untilDraining(first.app)
  expect((await second.post('/webhooks', 'evt_2')).status).toBe(202)
  first.finish()
  await closing
  second.finish()
})

it('lets Fastify reply 503 to late requests', async () => {
  const { app, post, finish } = await appAtWork()
  const closing = app.close()
  await untilDraining(app)
  const reply = await post('/webhooks', 'evt_2')
  expect([reply.status, reply.headers.get('connection')]).toEqual([503, 'close'])
  finish()
  await closing
})

it('replies 503 draining with Retry-After if Fastify routes late requests', async () => {
  const { app, post, finish } = await appAtWork({ return503OnClosing: false })
  const closing = app.close()
  await untilDraining(app)
  const reply = await post('/webhooks', 'evt_2')
  expect([reply.status, await reply.json()]).toEqual([503, expect.objectContaining({ code: 'draining' })])
  expect(reply.headers.get('retry-after')).toMatch(/^\d+$/)
  finish()
  await closing
})
