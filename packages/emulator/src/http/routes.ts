import type { Duration } from '@ackhook/core'
import { Hono } from 'hono'
import type { EmulatorApi } from '../api/emulator-api.ts'
import { EmulatorError, invalid } from '../errors/emulator-error.ts'
import { type Fields, fieldsOf, readAll, readKnown, withoutUndefined } from '../lib/read-fields.ts'
import { isJson, MESSAGES_PATH } from '../security/request-check.ts'
import {
  type BatchOptions,
  type EventToSend,
  type FieldOptions,
  type MessageState,
  SEND,
  WORKSPACE,
} from '../shapes/requests.ts'
import { ROUTES, type RouteName } from '../shapes/routes.ts'
import { errorReply, jsonReply } from './reply.ts'

/** Header that marks a reply as unpublished. */
const GUESS = { 'x-emulator-guess': 'true' }

/** Creates the platform's one path, `POST /v1/messages`. */
export function platformRoutes(
  { messages }: EmulatorApi,
  reply: { readonly status: number; readonly body: Readonly<Record<string, unknown>> },
): Hono {
  const routes = new Hono()
  routes.post(MESSAGES_PATH, async ({ req }) => {
    try {
      if (!/^Bearer \S+$/i.test(req.header('authorization') ?? '')) {
        throw new EmulatorError('unauthorized', 'send an API key as authorization: Bearer')
      }
      const { id } = await messages.send(await readJson(req.raw))
      return jsonReply(filledIn(reply.body, id), reply.status, GUESS)
    } catch (error) {
      const refusal = errorReply(error)
      refusal.headers.set('x-emulator-guess', 'true')
      return refusal
    }
  })
  return routes
}

/** Fills the id into a reply's template. */
function filledIn(body: unknown, id: string): unknown {
  if (typeof body === 'string') return body.replaceAll('$id', id)
  if (Array.isArray(body)) return body.map(one => filledIn(one, id))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, filledIn(value, id)]))
}

/** Creates every route in the table, and the one for an event's bytes, which are not JSON. */
export function apiRoutes(api: EmulatorApi): Hono {
  const routes = new Hono()
  for (const name of Object.keys(ROUTES) as RouteName[]) {
    const [method = '', path = ''] = name.split(' ')
    const { body, reply, status } = ROUTES[name]
    routes.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async ({ req }) => {
      const result = await CALLS[name](api, {
        param: Object.values<string>(req.param())[0] ?? '',
        query: req.query(),
        body: body === undefined ? {} : await readJson(req.raw),
        signal: req.raw.signal,
      })
      return reply === undefined ? new Response(null, { status: 204 }) : jsonReply(result, status)
    })
  }
  routes.get('/deliveries/:id/body', async ({ req }) => {
    const id = req.param('id')
    return new Response(Uint8Array.from(await api.deliveries.body(id)), {
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${id}.json"`,
        'cache-control': 'no-store',
      },
    })
  })
  return routes
}

/** Parts of a request. */
interface Call {
  /** Value of the path's placeholder. */
  readonly param: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Fields
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Implementation of each route. Resolves to its reply. */
const CALLS: Readonly<Record<RouteName, (api: EmulatorApi, call: Call) => Promise<unknown>>> = {
  'GET /health': api => api.health(),
  'GET /settings': api => api.settings(),
  'GET /stats': (api, { query }) => api.stats(query),
  'GET /faults': api => api.faults.get(),
  'PUT /faults': (api, { body }) => api.faults.set(body),
  'GET /clock': async api => ({ now: await api.clock.now() }),
  'POST /clock/advance': async (api, { body }) => {
    const { by } = fieldsOf(body, ['by'])
    if (by === undefined) throw invalid('by', "is missing: '5m', for example")
    return { now: await api.clock.advance(by as Duration) }
  },
  'POST /wait': (api, { body, signal }) => api.wait(body, signal),
  'POST /reset': (api, { body }) => api.reset(body),
  'POST /events': async (api, { body }) => {
    const { events, ...options } = fieldsOf(body, ['events', ...Object.keys(SEND)])
    return { events: await api.sendAll(events as EventToSend[], options) }
  },
  'GET /events': ({ events }, { query }) => events.list(query),
  'GET /batches': async ({ batches }) => ({ batches: await batches.list() }),
  'POST /batches': ({ batches }, { body }) => batches.start(body as unknown as BatchOptions),
  'GET /batches/{id}': ({ batches }, { param }) => batches.get(param),
  'POST /batches/{id}/stop': ({ batches }, { param }) => batches.stop(param),
  'GET /deliveries': ({ deliveries }, { query }) => {
    const { page, rest } = splitPage(query)
    return deliveries.list(rest, page)
  },
  'GET /undelivered': ({ deliveries }, { query }) => {
    const { page, rest } = splitPage(query)
    return deliveries.list({ ...rest, state: 'undelivered' }, page)
  },
  'GET /undelivered/groups': ({ deliveries }, { query }) => deliveries.groups(query),
  'POST /deliveries/fields': ({ deliveries }, { body }) => deliveries.fields(body as unknown as FieldOptions),
  'POST /deliveries/replay': ({ deliveries }, { body }) => deliveries.replayMatching(body),
  'POST /deliveries/discard': ({ deliveries }, { body }) => deliveries.discardMatching(body),
  'GET /deliveries/{id}': ({ deliveries }, { param }) => deliveries.get(param),
  'GET /deliveries/{id}/receiver': ({ deliveries }, { param }) => deliveries.receiver(param),
  'GET /deliveries/{id}/request': ({ deliveries }, { param }) => deliveries.request(param),
  'POST /deliveries/{id}/replay': ({ deliveries }, { param, body }) => deliveries.replay(param, body),
  'POST /deliveries/{id}/retry': ({ deliveries }, { param }) => deliveries.retryNow(param),
  'POST /deliveries/{id}/discard': ({ deliveries }, { param }) => deliveries.discard(param),
  'GET /workspaces': async ({ workspaces }) => ({ workspaces: await workspaces.list() }),
  'POST /workspaces': ({ workspaces }, { body }) => {
    const { id } = readAll(WORKSPACE, body)
    if (id === undefined) throw invalid('id', 'is missing')
    return workspaces.create(id)
  },
  'DELETE /workspaces/{workspace}': ({ workspaces }, { param }) => workspaces.remove(param),
  'GET /workspaces/{workspace}/endpoint': ({ endpoints }, { param }) => endpoints.get(param),
  'PUT /workspaces/{workspace}/endpoint': ({ endpoints }, { param, body }) => endpoints.put(body, param),
  'DELETE /workspaces/{workspace}/endpoint': ({ endpoints }, { param }) => endpoints.remove(param),
  'POST /workspaces/{workspace}/endpoint/rotate-secret': ({ endpoints }, { param, body }) =>
    endpoints.rotateSecret(body, param),
  'POST /workspaces/{workspace}/endpoint/pause': ({ endpoints }, { param }) => endpoints.pause(param),
  'POST /workspaces/{workspace}/endpoint/resume': ({ endpoints }, { param }) => endpoints.resume(param),
  'GET /messages': ({ messages }, { query }) => {
    const { page, rest } = splitPage(query)
    fieldsOf(rest, [], 'query')
    return messages.list(page)
  },
  'POST /messages/inbound': ({ messages }, { body: { workspace, ...message } }) =>
    messages.receive(message, readKnown(SEND, { workspace }).workspace),
  'GET /messages/{id}': ({ messages }, { param }) => messages.get(param),
  'POST /messages/{id}/advance': ({ messages }, { param, body }) =>
    messages.advance(param, fieldsOf(body, ['to'])['to'] as MessageState),
}

/** Separates a query's page from its other fields. The API parses numbers. */
function splitPage({ after, order, limit, ...rest }: Readonly<Record<string, string>>): {
  readonly page: object
  readonly rest: Readonly<Record<string, string>>
} {
  return { page: withoutUndefined({ after, order, limit }), rest }
}

/** Maximum size of a request, with room for a batch of events. */
const MAX_BYTES = 16 * 1024 * 1024

/** Reads a JSON object from the body; an empty body gives an empty object. Throws `EmulatorError`. */
async function readJson(request: Request): Promise<Fields> {
  const text = await readText(request)
  if (text === '') return {}
  if (!isJson(request.headers.get('content-type') ?? undefined)) {
    throw new EmulatorError('unsupported_media_type', 'send the body as application/json')
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw invalid('body', `must be JSON: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw invalid('body', 'must be a JSON object')
}

async function readText({ body }: Request): Promise<string> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MAX_BYTES)
      throw new EmulatorError('too_large', `a request may have at most ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
