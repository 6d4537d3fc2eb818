import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { memoryStore } from '@ackhook/core'
import { captureRawBody, webhooks } from '@ackhook/express'
import type { Express, Request } from 'express'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { EXPRESS_VERSIONS } from '../../../test/support/express-versions.ts'
import { eventBody, recordingLogger, SECRET, sign } from '../../../test/support/receiving.ts'

const leftovers: (() => unknown)[] = []
const faults: unknown[] = []
const note = (fault: unknown) => void faults.push(fault)

beforeEach(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterEach(async () => {
  for (const dispose of leftovers.splice(0)) await dispose()
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
  expect(faults.splice(0)).toEqual([])
})

/** Creates hooks with a store that counts claims and a logger that keeps its lines. */
function hooksWith() {
  const inner = memoryStore()
  const store = { ...inner, claim: vi.fn(inner.claim) }
  const logger = recordingLogger()
  const hooks = webhooks({ secret: SECRET, store, logger })
  const handled: string[] = []
  hooks.on('*', event => handled.push(event.id))
  return { hooks, store, logger, handled }
}

async function listen(app: Express): Promise<{ url: string }> {
  const server: Server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/webhooks` }
}

function post(url: string, body: string | Uint8Array = eventBody(), headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    body: body as BodyInit,
    headers: {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
      ...headers,
    },
    signal: AbortSignal.timeout(10_000),
  })
}
type BodyInit = NonNullable<RequestInit['body']>

// What every adapter does is proven by its suite, in test/conformance/adapters.test.ts: here is what only Express has.
describe.each(EXPRESS_VERSIONS)('%s', (_, express) => {
  /** Mounts hooks on /webhooks, behind other middleware. */
  async function mounted(before: (app: Express) => void) {
    const app = express()
    before(app)
    const made = hooksWith()
    app.post('/webhooks', made.hooks)
    return { ...made, ...(await listen(app)) }
  }

  describe('the exact bytes', () => {
    it('that express.raw kept are used', async () => {
      const { url } = await mounted(app => app.use(express.raw({ type: '*/*' })))
      expect((await post(url)).status).toBe(202)
      const pretty = JSON.stringify(JSON.parse(eventBody({ id: 'evt_2' })), null, 2)
      expect((await post(url, pretty)).status).toBe(202)
    })

    it('are read from the stream if express.raw ignored their type', async () => {
      const { url } = await mounted(app => app.use(express.raw({ type: 'application/octet-stream' })))
      expect((await post(url)).status).toBe(202)
    })

    it('that captureRawBody kept are used, behind a parser', async () => {
      const { url } = await mounted(app => app.use(express.json({ verify: captureRawBody })))
      const pretty = JSON.stringify(JSON.parse(eventBody()), null, 2)
      expect((await post(url, pretty)).status).toBe(202)
    })

    it('in req.rawBody are used, as set by Google Cloud Functions', async () => {
      const { url } = await mounted(app => {
        app.use((request, _response, next) => {
          const chunks: Buffer[] = []
          request.on('data', chunk => chunks.push(chunk))
          request.on('end', () => {
            Object.assign(request, {
              rawBody: Buffer.concat(chunks),
              body: JSON.parse(Buffer.concat(chunks).toString()),
            })
            next()
          })
        })
      })
      expect((await post(url)).status).toBe(202)
    })

    it('consumed by express.json() cause an immediate 500, and the log names the line to move', async () => {
      const { url, logger, store, handled } = await mounted(app => app.use(express.json()))
      const reply = await post(url)
      // A reader that waited for its bytes would reply 408.
      expect(reply.status).toBe(500)
      expect(await reply.json()).toMatchObject({ code: 'body_unavailable' })
      expect(logger.lines).toMatchObject([{ level: 'error', fields: { code: 'body_unavailable' } }])
      expect(logger.lines[0]?.message).toContain('app.use(express.json())')
      expect(logger.lines[0]?.message).toContain('Move the line that mounts the webhook route above it')
      expect(logger.lines[0]?.message).toContain('captureRawBody')
      expect(store.claim).not.toHaveBeenCalled()
      expect(handled).toEqual([])
    })

    it('consumed by express.text() or express.urlencoded() cause a 500 too', async () => {
      for (const [parser, type] of [
        [express.text({ type: '*/*' }), 'text/plain'],
        [express.urlencoded({ extended: true }), 'application/x-www-form-urlencoded'],
      ] as const) {
        const { url } = await mounted(app => app.use(parser))
        expect((await post(url, eventBody(), { 'content-type': type })).status).toBe(500)
      }
    })
  })

  it('refuses a compressed body with 415, even if a parser would have inflated it', async () => {
    const zipped = gzipSync(eventBody())
    const signature = {
      'content-encoding': 'gzip',
      'x-service-signature': sign(eventBody(), { secret: SECRET }),
    }
    for (const before of [
      () => {},
      (app: Express) => app.use(express.raw({ type: '*/*' })),
      (app: Express) => app.use(express.json({ verify: captureRawBody })),
    ]) {
      const { url, store } = await mounted(before)
      expect((await post(url, zipped, signature)).status).toBe(415)
      expect(store.claim).not.toHaveBeenCalled()
    }
  })

  it('works behind a router with a prefix, beside routes that parse JSON', async () => {
    const app = express()
    const { hooks } = hooksWith()
    const router = express.Router()
    router.post('/', hooks)
    app.use('/webhooks', router)
    app.use(express.json())
    app.post('/other', (request, response) => void response.json(request.body))
    const { url } = await listen(app)
    expect((await post(url)).status).toBe(202)
    const other = await post(url.replace('webhooks', 'other'), '{"a":1}')
    expect(await other.json()).toEqual({ a: 1 })
  })

  it('passes the request to secret and namespace', async () => {
    const app = express()
    const hooks = webhooks({
      secret: (request: Request) => (request.params['workspace'] === 'nobody' ? null : SECRET),
      namespace: (request: Request) => String(request.params['workspace']),
      logger: recordingLogger(),
    })
    app.post('/webhooks/:workspace', hooks)
    const { url } = await listen(app)
    const statuses = []
    for (const workspace of ['a', 'b', 'a', 'nobody'])
      statuses.push((await post(`${url}/${workspace}`)).status)
    expect(statuses).toEqual([202, 202, 200, 401])
  })

  it('can be chained and mounted in one expression', async () => {
    const app = express()
    const handled = vi.fn()
    const hooks = webhooks({ secret: SECRET })
    const chained = hooks
      .on('conversation.resolved', handled)
      .onError(() => {})
      .onDeadLetter(() => {})
      .onUnhandled(() => {})
    expect(chained).toBe(hooks)
    app.post('/webhooks', chained)
    const { url } = await listen(app)
    expect((await post(url)).status).toBe(202)
    await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
  })
})

it('replies if its method handle is called with a response, as connect does', async () => {
  const { hooks, handled } = hooksWith()
  const server = createServer(
    (request, response) => void (hooks.handle as (...both: unknown[]) => unknown)(request, response),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  leftovers.push(() => server.close())
  const reply = await post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(reply.status).toBe(202)
  await vi.waitFor(() => expect(handled).toHaveLength(1))
})

describe.each(EXPRESS_VERSIONS)('headers of middleware on %s', (_, express) => {
  it('are on the reply, whose own headers win, and do not break its framing', async () => {
    const app = express()
    app.use((_request, response, next) => {
      response.set({ 'x-request-id': 'r1', 'content-type': 'text/plain', 'content-length': '1' })
      response.set('transfer-encoding', 'chunked')
      next()
    })
    app.post('/webhooks', hooksWith().hooks)
    const { url } = await listen(app)
    const reply = await post(url)
    expect([reply.status, await reply.json()]).toEqual([202, expect.objectContaining({ code: 'accepted' })])
    expect(reply.headers.get('x-request-id')).toBe('r1')
    expect(reply.headers.get('content-type')).toBe('application/json')
    expect(reply.headers.has('transfer-encoding')).toBe(false)
  })
})
