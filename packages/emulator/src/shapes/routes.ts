import type { Table } from './field.ts'
import { EVENTS, PAGE, SELECTION, STATS } from './requests.ts'

/** Properties of an API call. */
export interface Route {
  readonly summary: string
  /** Name of the body's schema. */
  readonly body?: string
  /** Name of its query in {@link QUERIES}. */
  readonly query?: keyof typeof QUERIES
  /** Name of the reply's schema; absent for a reply without a body. */
  readonly reply?: string
  /** Default 200, or 204 without a body. */
  readonly status?: number
  /** Statuses of refusals, besides those of every call. */
  readonly refusals?: readonly number[]
}

const { state: _, ...otherThanState } = SELECTION

/** The fields of queries, by name. */
export const QUERIES: Readonly<
  Record<'Selection' | 'Page' | 'Deliveries' | 'Undelivered' | 'Groups' | 'Events' | 'Stats', Table>
> = {
  Selection: SELECTION,
  Page: PAGE,
  Deliveries: { ...SELECTION, ...PAGE },
  Undelivered: { ...otherThanState, ...PAGE },
  Groups: otherThanState,
  Events: EVENTS,
  Stats: STATS,
}

const TABLE = {
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
    query: 'Stats',
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
  'GET /events': {
    summary:
      'Lists events, oldest first, as they were sent or would have been; the platform publishes no such call',
    query: 'Events',
    reply: 'EventPage',
  },
  'GET /batches': { summary: 'Lists batches, newest first', reply: 'Batches' },
  'POST /batches': {
    summary: 'Starts a replay, a discard or a send of many, which runs until it ends or is stopped',
    body: 'BatchRequest',
    reply: 'Batch',
    status: 202,
    refusals: [404, 503],
  },
  'GET /batches/{id}': { summary: 'Returns a batch with its results', reply: 'Batch', refusals: [404] },
  'POST /batches/{id}/stop': {
    summary: 'Stops a batch after the step under way',
    reply: 'Batch',
    refusals: [404],
  },
  'GET /deliveries': {
    summary: 'Lists deliveries, newest first or oldest first',
    query: 'Deliveries',
    reply: 'DeliveryPage',
  },
  'GET /undelivered': {
    summary: 'Lists undelivered deliveries, newest first or oldest first',
    query: 'Undelivered',
    reply: 'DeliveryPage',
  },
  'GET /undelivered/groups': {
    summary: 'Groups undelivered deliveries by type and last reply, the largest group first',
    query: 'Groups',
    reply: 'FailureGroups',
  },
  'POST /deliveries/fields': {
    summary: "Returns a field of deliveries' events",
    body: 'FieldRequest',
    reply: 'FieldValues',
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
    reply: 'DeliveryDetail',
    refusals: [404],
  },
  'GET /deliveries/{id}/receiver': {
    summary: "Returns what the receiver's dashboard says of a delivery's event, if its address is set",
    reply: 'Receiver',
    refusals: [404],
  },
  'GET /deliveries/{id}/request': {
    summary: "Returns a delivery's exact last request, as a file for ackhook verify",
    reply: 'SavedRequest',
    refusals: [404, 409],
  },
  'POST /deliveries/{id}/replay': {
    summary: 'Sends a delivery again; returns the new one',
    body: 'ReplayRequest',
    reply: 'Delivery',
    status: 202,
    refusals: [404, 409, 503],
  },
  'POST /deliveries/{id}/retry': {
    summary: "Starts a pending delivery's next attempt now",
    reply: 'Delivery',
    status: 202,
    refusals: [404, 409],
  },
  'POST /deliveries/{id}/discard': {
    summary: 'Gives up a delivery',
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
    refusals: [404, 409],
  },
  'GET /workspaces/{workspace}/endpoint': {
    summary: "Returns a workspace's endpoint",
    reply: 'Endpoint',
    refusals: [404],
  },
  'PUT /workspaces/{workspace}/endpoint': {
    summary: 'Creates or changes an endpoint',
    body: 'EndpointRequest',
    reply: 'EndpointResult',
    refusals: [404],
  },
  'DELETE /workspaces/{workspace}/endpoint': {
    summary: 'Removes an endpoint; its pending deliveries become undelivered',
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/rotate-secret': {
    summary: 'Sets a new secret; the old one also signs for a while',
    body: 'RotateRequest',
    reply: 'EndpointResult',
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/pause': {
    summary: 'Stops sending until the endpoint is resumed',
    reply: 'Endpoint',
    refusals: [404],
  },
  'POST /workspaces/{workspace}/endpoint/resume': {
    summary: 'Resumes sending to a paused endpoint',
    reply: 'Endpoint',
    refusals: [404],
  },
  'GET /messages': {
    summary: 'Lists messages, newest first or oldest first',
    query: 'Page',
    reply: 'MessagePage',
  },
  'POST /messages/inbound': {
    summary: "Simulates a customer's message, and sends its event (a guess)",
    body: 'InboundRequest',
    reply: 'MessageEvent',
    status: 202,
    refusals: [404, 503],
  },
  'GET /messages/{id}': { summary: 'Returns a message', reply: 'Message', refusals: [404] },
  'POST /messages/{id}/advance': {
    summary: 'Makes a message sent, delivered, read or failed, and sends its event (a guess)',
    body: 'AdvanceRequest',
    reply: 'MessageEvent',
    status: 202,
    refusals: [404, 409, 503],
  },
} as const

/** A method, and a path under `/_emulator/v1`. */
export type RouteName = keyof typeof TABLE

/** Every API call with JSON bodies. The server, its OpenAPI document and the CLI's verbs are built from this table. */
export const ROUTES: Readonly<Record<RouteName, Route>> = TABLE

/** Names a call in the OpenAPI document, and as a tool: `post_deliveries_id_replay`. */
export function operationId(name: RouteName): string {
  const [method = '', path = ''] = name.split(' ')
  return `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '').replaceAll(/[/-]/g, '_')}`
}
