import type { Duration } from '@ackhook/core'
import type { EmulatorApi, EventToSend } from '../../api/emulator-api.ts'
import { invalid } from '../../errors/emulator-error.ts'
import { type Fields, fieldsOf, textField } from '../../lib/read-fields.ts'
import { withoutUndefined } from '../../lib/without-undefined.ts'
import type { MessageState } from '../../messages/message-events.ts'
import type { RouteName } from '../openapi/routes.ts'

/** Parts of a request. */
export interface Call {
  /** Value of the path's placeholder. */
  readonly param: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Fields
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Implementation of each route. Resolves to its reply. */
export const CALLS: Readonly<Record<RouteName, (api: EmulatorApi, call: Call) => Promise<unknown>>> = {
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
    const { events, ...options } = fieldsOf(body, ['events', 'workspace', 'faults'])
    return { events: await api.sendAll(events as EventToSend[], options) }
  },
  'GET /deliveries': ({ deliveries }, { query }) => {
    const { page, rest } = splitPage(query)
    return deliveries.list(rest, page)
  },
  'GET /undelivered': ({ deliveries }, { query }) => {
    const { page, rest } = splitPage(query)
    return deliveries.list({ ...rest, state: 'undelivered' }, page)
  },
  'POST /deliveries/replay': ({ deliveries }, { body }) => deliveries.replayMatching(body),
  'POST /deliveries/discard': ({ deliveries }, { body }) => deliveries.discardMatching(body),
  'GET /deliveries/{id}': ({ deliveries }, { param }) => deliveries.get(param),
  'GET /deliveries/{id}/request': ({ deliveries }, { param }) => deliveries.request(param),
  'POST /deliveries/{id}/replay': ({ deliveries }, { param, body }) => deliveries.replay(param, body),
  'POST /deliveries/{id}/retry': ({ deliveries }, { param }) => deliveries.retryNow(param),
  'POST /deliveries/{id}/discard': ({ deliveries }, { param }) => deliveries.discard(param),
  'GET /workspaces': async ({ workspaces }) => ({ workspaces: await workspaces.list() }),
  'POST /workspaces': ({ workspaces }, { body }) => {
    const id = textField(fieldsOf(body, ['id']), 'id')
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
    messages.receive(message, textField({ workspace }, 'workspace')),
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
