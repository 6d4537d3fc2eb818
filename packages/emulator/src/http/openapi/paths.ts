import { integer, object, type Schema, text } from './schema-parts.ts'
import { SELECTION_PARAMETERS } from './schemas.ts'

/** How one operation differs from others. */
interface Operation {
  readonly summary: string
  /** Name of the schema of the body. */
  readonly body?: string
  readonly parameters?: readonly Schema[]
  /** Name of the schema of the reply; none for a reply without a body. */
  readonly reply?: string
  /** Default 200, without a reply 204. */
  readonly status?: number
  /** Statuses of refusals, besides those that every call may get. */
  readonly refusals?: readonly number[]
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A field is wrong',
  401: 'The token is missing or wrong',
  403: 'The request comes from another site',
  404: 'There is no such thing',
  409: 'Not in its present state',
  413: 'Too large',
  415: 'Not JSON',
  503: 'Too much is pending or undelivered',
}
const EVERY_CALL = [400, 401, 403, 413, 415]

const page: readonly Schema[] = [
  { name: 'after', in: 'query', schema: text, description: 'next of the page before' },
  { name: 'order', in: 'query', schema: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' } },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
]
const id = inPath('id')
const workspace = inPath('workspace')

/** Paths under `/_emulator/v1`. */
const OWN: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  '/health': {
    get: { summary: 'State, counts and warnings; answers as soon as it is ready', reply: 'EmulatorHealth' },
  },
  '/settings': { get: { summary: 'Every setting; what is not published is a guess', reply: 'Settings' } },
  '/stats': {
    get: {
      summary: 'Deliveries over time by state; default: the last hour in 60 buckets',
      parameters: [...SELECTION_PARAMETERS, { name: 'buckets', in: 'query', schema: integer }],
      reply: 'Stats',
    },
  },
  '/faults': {
    get: { summary: 'What goes wrong on purpose', reply: 'Faults' },
    put: { summary: 'Replaces all faults', body: 'Faults', reply: 'Faults' },
  },
  '/clock': { get: { summary: "The emulator's time", reply: 'Clock' } },
  '/clock/advance': {
    post: {
      summary: 'Moves the clock, and starts what becomes due on the way',
      body: 'ClockRequest',
      reply: 'Clock',
    },
  },
  '/wait': {
    post: {
      summary: 'Answers when enough events match, or after the timeout',
      body: 'WaitRequest',
      reply: 'WaitResult',
    },
  },
  '/reset': { post: { summary: 'Empties the log', body: 'ResetRequest' } },
  '/events': {
    post: {
      summary: 'Takes events in, all or none',
      body: 'EventsRequest',
      reply: 'SentEvents',
      status: 202,
      refusals: [404, 503],
    },
  },
  '/deliveries': {
    get: {
      summary: 'Deliveries, newest first or oldest first',
      parameters: [...SELECTION_PARAMETERS, ...page],
      reply: 'DeliveryPage',
    },
  },
  '/undelivered': {
    get: {
      summary: 'Undelivered deliveries, newest first or oldest first',
      parameters: [...SELECTION_PARAMETERS.filter(one => one['name'] !== 'state'), ...page],
      reply: 'DeliveryPage',
    },
  },
  '/deliveries/replay': {
    post: {
      summary: 'Replays what matches, oldest first',
      body: 'BulkRequest',
      reply: 'BulkResult',
      refusals: [404, 503],
    },
  },
  '/deliveries/discard': {
    post: { summary: 'Gives up what matches, oldest first', body: 'BulkRequest', reply: 'BulkResult' },
  },
  '/deliveries/{id}': {
    get: {
      summary: 'One delivery with its bytes and attempts',
      parameters: [id],
      reply: 'DeliveryDetail',
      refusals: [404],
    },
  },
  '/deliveries/{id}/replay': {
    post: {
      summary: 'Sends it again; answers the new delivery',
      parameters: [id],
      body: 'ReplayRequest',
      reply: 'Delivery',
      status: 202,
      refusals: [404, 409, 503],
    },
  },
  '/deliveries/{id}/retry': {
    post: {
      summary: 'Starts the next attempt now',
      parameters: [id],
      reply: 'Delivery',
      status: 202,
      refusals: [404, 409],
    },
  },
  '/deliveries/{id}/discard': {
    post: { summary: 'Gives it up', parameters: [id], reply: 'Delivery', refusals: [404, 409] },
  },
  '/workspaces': {
    get: { summary: 'Workspaces with their endpoints', reply: 'Workspaces' },
    post: {
      summary: 'Creates a workspace',
      body: 'WorkspaceRequest',
      reply: 'Workspace',
      status: 201,
      refusals: [409],
    },
  },
  '/workspaces/{workspace}': {
    delete: { summary: 'Removes it with its endpoint', parameters: [workspace], refusals: [404, 409] },
  },
  '/workspaces/{workspace}/endpoint': {
    get: { summary: 'Its endpoint', parameters: [workspace], reply: 'Endpoint', refusals: [404] },
    put: {
      summary: 'Creates or changes its endpoint',
      parameters: [workspace],
      body: 'EndpointRequest',
      reply: 'EndpointResult',
      refusals: [404],
    },
    delete: {
      summary: 'Removes its endpoint; what is pending becomes undelivered',
      parameters: [workspace],
      refusals: [404],
    },
  },
  '/workspaces/{workspace}/endpoint/rotate-secret': {
    post: {
      summary: 'A new secret; both sign until the overlap is over',
      parameters: [workspace],
      body: 'RotateRequest',
      reply: 'EndpointResult',
      refusals: [404],
    },
  },
  '/workspaces/{workspace}/endpoint/pause': {
    post: {
      summary: 'Sends nothing until it is resumed',
      parameters: [workspace],
      reply: 'Endpoint',
      refusals: [404],
    },
  },
  '/workspaces/{workspace}/endpoint/resume': {
    post: { summary: 'Goes on', parameters: [workspace], reply: 'Endpoint', refusals: [404] },
  },
  '/messages': {
    get: { summary: 'Messages, newest first or oldest first', parameters: page, reply: 'MessagePage' },
  },
  '/messages/inbound': {
    post: {
      summary: 'A message of a customer, and its event: a guess',
      body: 'InboundRequest',
      reply: 'MessageEvent',
      status: 202,
      refusals: [404, 503],
    },
  },
  '/messages/{id}': { get: { summary: 'One message', parameters: [id], reply: 'Message', refusals: [404] } },
  '/messages/{id}/advance': {
    post: {
      summary: 'Makes it sent, delivered, read or failed, and sends the event of that: a guess',
      parameters: [id],
      body: 'AdvanceRequest',
      reply: 'MessageEvent',
      status: 202,
      refusals: [404, 409, 503],
    },
  },
}

/** Bodies that no other part of the document names. */
export const REQUESTS: Readonly<Record<string, Schema>> = {
  ClockRequest: object({
    by: { description: "Seconds, or a text such as '5m'", type: ['number', 'string'] },
  }),
  ResetRequest: object({ everything: { type: 'boolean', description: 'Workspaces and endpoints too' } }, [
    'everything',
  ]),
  WorkspaceRequest: object({ id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' } }),
  AdvanceRequest: object({ to: { enum: ['sent', 'delivered', 'read', 'failed'] } }),
}

/** Replies that are not JSON, and the one path of the platform. */
const OTHERS: Readonly<Record<string, Schema>> = {
  '/_emulator/v1/deliveries/{id}/body': {
    get: {
      operationId: 'get_deliveries_id_body',
      summary: 'The event, byte for byte',
      parameters: [id],
      responses: { 200: content('The bytes', 'application/octet-stream', {}), ...refusals([404]) },
    },
  },
  '/_emulator/v1/stream': {
    get: {
      operationId: 'get_stream',
      summary:
        'Server-sent events: open, deliveries, endpoint, health, message, faults, clock, reset, and gap where the list must be read again. It goes on after last-event-id, which may be x-emulator-position of any reply',
      parameters: [{ name: 'Last-Event-ID', in: 'header', schema: text }],
      responses: { 200: content('The changes', 'text/event-stream', text), ...refusals([]) },
    },
  },
  '/_emulator/v1/openapi.json': {
    get: {
      operationId: 'get_openapi',
      summary: 'This document',
      responses: { 200: content('OpenAPI 3.1', 'application/json', { type: 'object' }), ...refusals([]) },
    },
  },
  '/v1/messages': {
    post: {
      operationId: 'post_v1_messages',
      summary:
        'As the platform takes a message. Its reply is not published: this one is a guess, and configurable',
      requestBody: jsonBody('SendMessageRequest'),
      responses: { default: content('A guess', 'application/json', { type: 'object' }) },
    },
  },
}

export const PATHS: Readonly<Record<string, Schema>> = {
  ...Object.fromEntries(
    Object.entries(OWN).map(([path, operations]) => [
      `/_emulator/v1${path}`,
      Object.fromEntries(
        Object.entries(operations).map(([method, one]) => [method, operationOf(method, path, one)]),
      ),
    ]),
  ),
  ...OTHERS,
}

function operationOf(method: string, path: string, operation: Operation): Schema {
  const { summary, body, parameters, reply, status, refusals: own = [] } = operation
  return {
    operationId: `${method}${path.replaceAll(/[{}]/g, '').replaceAll(/[/-]/g, '_')}`,
    summary,
    ...(parameters !== undefined && { parameters }),
    ...(body !== undefined && { requestBody: jsonBody(body) }),
    responses: {
      [status ?? (reply === undefined ? 204 : 200)]:
        reply === undefined ? { description: 'Done' } : content('Done', 'application/json', refTo(reply)),
      ...refusals(own),
    },
  }
}

function refusals(own: readonly number[]): Record<number, Schema> {
  const statuses = [...EVERY_CALL, ...own].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map(status => [status, content(REFUSALS[status] ?? '', 'application/json', refTo('Error'))]),
  )
}

function content(description: string, type: string, schema: Schema): Schema {
  return { description, content: { [type]: { schema } } }
}

function jsonBody(name: string): Schema {
  return { content: { 'application/json': { schema: refTo(name) } } }
}

function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

function inPath(name: string): Schema {
  return { name, in: 'path', required: true, schema: text }
}
