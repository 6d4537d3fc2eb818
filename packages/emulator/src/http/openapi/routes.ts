import { integer, type Schema, text } from './schema-parts.ts'
import { SELECTION_PARAMETERS } from './schemas.ts'

/** Properties of an API call. */
export interface Route {
  readonly summary: string
  /** Name of the body's schema. */
  readonly body?: string
  readonly parameters?: readonly Schema[]
  /** Name of the reply's schema; absent for a reply without a body. */
  readonly reply?: string
  /** Default 200, or 204 without a body. */
  readonly status?: number
  /** Statuses of refusals, besides those of every call. */
  readonly refusals?: readonly number[]
}

const page: readonly Schema[] = [
  { name: 'after', in: 'query', schema: text, description: 'The `next` of the previous page' },
  { name: 'order', in: 'query', schema: { type: 'string', enum: ['newest', 'oldest'], default: 'newest' } },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200, default: 50 } },
]
const id = inPath('id')
const workspace = inPath('workspace')

/** A method, and a path under `/_emulator/v1`. */
export type RouteName =
  | 'GET /health'
  | 'GET /settings'
  | 'GET /stats'
  | 'GET /faults'
  | 'PUT /faults'
  | 'GET /clock'
  | 'POST /clock/advance'
  | 'POST /wait'
  | 'POST /reset'
  | 'POST /events'
  | 'GET /deliveries'
  | 'GET /undelivered'
  | 'POST /deliveries/replay'
  | 'POST /deliveries/discard'
  | 'GET /deliveries/{id}'
  | 'GET /deliveries/{id}/request'
  | 'POST /deliveries/{id}/replay'
  | 'POST /deliveries/{id}/retry'
  | 'POST /deliveries/{id}/discard'
  | 'GET /workspaces'
  | 'POST /workspaces'
  | 'DELETE /workspaces/{workspace}'
  | 'GET /workspaces/{workspace}/endpoint'
  | 'PUT /workspaces/{workspace}/endpoint'
  | 'DELETE /workspaces/{workspace}/endpoint'
  | 'POST /workspaces/{workspace}/endpoint/rotate-secret'
  | 'POST /workspaces/{workspace}/endpoint/pause'
  | 'POST /workspaces/{workspace}/endpoint/resume'
  | 'GET /messages'
  | 'POST /messages/inbound'
  | 'GET /messages/{id}'
  | 'POST /messages/{id}/advance'

/**
 * Every API call with JSON bodies. The server, its OpenAPI document and the CLI's verbs are built from this table.
 */
export const ROUTES: Readonly<Record<RouteName, Route>> = {
  'GET /health': {
    summary: 'Returns state, counts and warnings; replies once the emulator is ready',
    reply: 'EmulatorHealth',
  },
  'GET /settings': {
    summary: 'Lists every setting and limit; unpublished ones are guesses',
    reply: 'Settings',
  },
  'GET /stats': {
    summary: 'Counts deliveries over time by state; default: the last hour in 60 buckets',
    parameters: [...SELECTION_PARAMETERS, { name: 'buckets', in: 'query', schema: integer }],
    reply: 'Stats',
  },
  'GET /faults': { summary: 'Returns the faults in force', reply: 'Faults' },
  'PUT /faults': { summary: 'Replaces all faults', body: 'Faults', reply: 'Faults' },
  'GET /clock': { summary: "Returns the emulator's time", reply: 'Clock' },
  'POST /clock/advance': {
    summary: 'Moves the clock forward, and makes the attempts that fall due',
    body: 'ClockRequest',
    reply: 'Clock',
  },
  'POST /wait': {
    summary: 'Waits until the condition is met, or until the timeout',
    body: 'WaitRequest',
    reply: 'WaitResult',
  },
  'POST /reset': { summary: 'Empties the log, and resets the clock and the faults', body: 'ResetRequest' },
  'POST /events': {
    summary: 'Accepts events, all or none',
    body: 'EventsRequest',
    reply: 'SentEvents',
    status: 202,
    refusals: [404, 503],
  },
  'GET /deliveries': {
    summary: 'Lists deliveries, newest first or oldest first',
    parameters: [...SELECTION_PARAMETERS, ...page],
    reply: 'DeliveryPage',
  },
  'GET /undelivered': {
    summary: 'Lists undelivered deliveries, newest first or oldest first',
    parameters: [...SELECTION_PARAMETERS.filter(one => one['name'] !== 'state'), ...page],
    reply: 'DeliveryPage',
  },
  'POST /deliveries/replay': {
    summary: 'Replays matching deliveries, oldest first',
    body: 'BulkRequest',
    reply: 'BulkResult',
    refusals: [404, 503],
  },
  'POST /deliveries/discard': {
    summary: 'Gives up matching deliveries, oldest first',
    body: 'BulkRequest',
    reply: 'BulkResult',
  },
  'GET /deliveries/{id}': {
    summary: 'Returns a delivery with its bytes and attempts',
    parameters: [id],
    reply: 'DeliveryDetail',
    refusals: [404],
  },
  'GET /deliveries/{id}/request': {
    summary: "Returns a delivery's exact last request, as a file for ackhook verify",
    parameters: [id],
    reply: 'SavedRequest',
    refusals: [404, 409],
  },
  'POST /deliveries/{id}/replay': {
    summary: 'Sends a delivery again; returns the new one',
    parameters: [id],
    body: 'ReplayRequest',
    reply: 'Delivery',
    status: 202,
    refusals: [404, 409, 503],
  },
  'POST /deliveries/{id}/retry': {
    summary: "Starts a pending delivery's next attempt now",
    parameters: [id],
    reply: 'Delivery',
    status: 202,
    refusals: [404, 409],
  },
  'POST /deliveries/{id}/discard': {
    summary: 'Gives up a delivery',
    parameters: [id],
    reply: 'Delivery',
    refusals: [404, 409],
  },
  'GET /workspaces': { summary: 'Lists the workspaces with their endpoints', reply: 'Workspaces' },
  'POST /workspaces': {
    summary: 'Creates a workspace',
    body: 'WorkspaceRequest',
    reply: 'Workspace',
    status: 201,
    refusals: [409],
  },
  'DELETE /workspaces/{workspace}': {
    summary: 'Removes a workspace with its endpoint',
    parameters: [workspace],
    refusals: [404, 409],
  },
  'GET /workspaces/{workspace}/endpoint': {
    summary: "Returns a workspace's endpoint",
    parameters: [workspace],
    reply: 'Endpoint',
    refusals: [404],
  },
  'PUT /workspaces/{workspace}/endpoint': {
    summary: 'Creates or changes an endpoint',
    parameters: [workspace],
    body: 'EndpointRequest',
    reply: 'EndpointResult',
    refusals: [404],
  },
  'DELETE /workspaces/{workspace}/endpoint': {
    summary: 'Removes an endpoint; its pending deliveries become undelivered',
    parameters: [workspace],
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/rotate-secret': {
    summary: 'Sets a new secret; the old one also signs for a while',
    parameters: [workspace],
    body: 'RotateRequest',
    reply: 'EndpointResult',
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/pause': {
    summary: 'Stops sending until the endpoint is resumed',
    parameters: [workspace],
    reply: 'Endpoint',
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/resume': {
    summary: 'Resumes sending to a paused endpoint',
    parameters: [workspace],
    reply: 'Endpoint',
    refusals: [404],
  },
  'GET /messages': {
    summary: 'Lists messages, newest first or oldest first',
    parameters: page,
    reply: 'MessagePage',
  },
  'POST /messages/inbound': {
    summary: "Simulates a customer's message, and sends its event (a guess)",
    body: 'InboundRequest',
    reply: 'MessageEvent',
    status: 202,
    refusals: [404, 503],
  },
  'GET /messages/{id}': { summary: 'Returns a message', parameters: [id], reply: 'Message', refusals: [404] },
  'POST /messages/{id}/advance': {
    summary: 'Makes a message sent, delivered, read or failed, and sends its event (a guess)',
    parameters: [id],
    body: 'AdvanceRequest',
    reply: 'MessageEvent',
    status: 202,
    refusals: [404, 409, 503],
  },
}

/** Describes a path parameter. */
export function inPath(name: string): Schema {
  return { name, in: 'path', required: true, schema: text }
}
