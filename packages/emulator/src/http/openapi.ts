import { REPLIES } from '../shapes/replies.ts'
import { REQUESTS } from '../shapes/requests.ts'
import { operationId, QUERIES, ROUTES, type Route, type RouteName } from '../shapes/routes.ts'
import { ref, type Schema, text } from '../shapes/schema.ts'

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'A field is invalid',
  401: 'The token is missing or wrong',
  403: 'The request comes from another site',
  404: 'Not found',
  409: 'Not possible in its current state',
  413: 'Too large',
  415: 'Not JSON',
  503: 'Too many events are pending or undelivered',
}
const EVERY_CALL = [400, 401, 403, 413, 415]

/** Paths outside the table of routes: replies other than the API's JSON, and the platform's one path. */
const OTHERS: Readonly<Record<string, Schema>> = {
  '/_emulator/v1/deliveries/{id}/body': {
    get: {
      operationId: 'get_deliveries_id_body',
      summary: 'Returns the event, byte for byte',
      parameters: [inPath('id')],
      responses: { 200: content('The bytes', 'application/octet-stream', {}), ...refusals([404]) },
    },
  },
  '/_emulator/v1/stream': {
    get: {
      operationId: 'get_stream',
      summary:
        'Server-sent events: open, deliveries, endpoint, health, message, faults, clock, reset, and gap if the list must be read again. Resumes after last-event-id, which may be the x-emulator-position of any reply',
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
        'Accepts a message, as the platform does. The reply is not published: it is a guess, and configurable',
      requestBody: jsonBody('SendMessageRequest'),
      responses: { default: content('A guess', 'application/json', { type: 'object' }) },
    },
  },
}

const PATHS: Readonly<Record<string, Schema>> = { ...own(), ...OTHERS }

/** Converts the table of routes to OpenAPI: by path, then by method. */
function own(): Readonly<Record<string, Schema>> {
  const paths: Record<string, Record<string, Schema>> = {}
  for (const name of Object.keys(ROUTES) as RouteName[]) {
    const [method = '', path = ''] = name.split(' ')
    const full = `/_emulator/v1${path}`
    paths[full] = { ...paths[full], [method.toLowerCase()]: operationOf(name, path, ROUTES[name]) }
  }
  return paths
}

function operationOf(name: RouteName, path: string, operation: Route): Schema {
  const { summary, body, query, reply, status, refusals: own = [] } = operation
  const parameters = [
    ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => inPath(name)),
    ...Object.entries(query === undefined ? {} : QUERIES[query]).map(([name, { schema }]) => ({
      ...{ name, in: 'query', schema },
    })),
  ]
  return {
    operationId: operationId(name),
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: jsonBody(body) }),
    responses: {
      [status ?? (reply === undefined ? 204 : 200)]:
        reply === undefined ? { description: 'Done' } : content('Done', 'application/json', ref(reply)),
      ...refusals(own),
    },
  }
}

function refusals(own: readonly number[]): Record<number, Schema> {
  const statuses = [...EVERY_CALL, ...own].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map(status => [status, content(REFUSALS[status] ?? '', 'application/json', ref('Error'))]),
  )
}

function content(description: string, type: string, schema: Schema): Schema {
  return { description, content: { [type]: { schema } } }
}

function jsonBody(name: string): Schema {
  return { content: { 'application/json': { schema: ref(name) } } }
}

/** Describes a path parameter. */
function inPath(name: string): Schema {
  return { name, in: 'path', required: true, schema: text }
}

/** OpenAPI 3.1 description of the HTTP API. The server adds its version. */
export const OPENAPI: Readonly<Record<string, unknown>> & { readonly info: object } = {
  openapi: '3.1.0',
  info: {
    title: 'Ackhook emulator',
    description:
      "The platform on your machine. Calls that change something need the header x-ackhook: 1 and JSON, except from the emulator's page.",
    license: { name: 'MIT', identifier: 'MIT' },
  },
  paths: PATHS,
  components: {
    schemas: { ...REPLIES, ...REQUESTS },
    securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
  },
}
