import {
  boolean,
  choice,
  instant,
  integer,
  listOf,
  number,
  object,
  options,
  orNull,
  ref,
  type Schema,
  text,
} from './schema-parts.ts'

const states = choice('pending', 'acknowledged', 'undelivered', 'replayed', 'discarded', 'skipped')
const kinds = choice('event', 'duplicate', 'replay')
const chance: Schema = { anyOf: [boolean, { type: 'number', minimum: 0, maximum: 1 }] }
const duration: Schema = {
  description: "A string with a unit, such as '250ms', '30s', '5m', '24h' or '7d'",
  type: 'string',
  pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$',
}

const TIME = 'ISO 8601, an age (24h), now, today or yesterday'
const time: Schema = {
  type: 'string',
  pattern: '^(\\d+(\\.\\d+)?(ms|s|m|h|d)|now|today|yesterday|\\d{4}-\\d\\d.*)$',
}

/** Filter for deliveries, as in a body. */
const selection: Readonly<Record<string, Schema>> = {
  workspace: text,
  category: text,
  type: { type: 'string', description: 'A type, or a pattern: order.*' },
  state: states,
  kind: kinds,
  status: { type: 'integer', minimum: 100, maximum: 999, description: 'Status of the last reply' },
  event: { type: 'string', description: "The event's id" },
  message: { type: 'string', description: 'Id of the message that the event is about' },
  from: { ...time, description: `Created then or later. ${TIME}` },
  to: { ...time, description: `Created before. ${TIME}` },
  text: { type: 'string', minLength: 3, description: 'Part of the event, ignoring case' },
}

const delivery: Readonly<Record<string, Schema>> = {
  id: text,
  seq: { type: 'integer', description: 'Number that increases with each delivery' },
  workspace: text,
  event: { type: 'string', description: "The event's id" },
  type: text,
  category: text,
  kind: kinds,
  state: states,
  underWay: { type: 'boolean', description: 'Whether an attempt is under way' },
  guess: { type: 'boolean', description: 'true if the platform has not published this type' },
  createdAt: instant,
  nextAttemptAt: orNull(instant),
  startedAt: orNull(instant),
  endedAt: orNull(instant),
  attempts: { type: 'integer', minimum: 0 },
  lastStatus: orNull(integer),
  lastCode: orNull(text),
  lastError: orNull(text),
  origin: { ...orNull(text), description: 'Id of the delivery that this one repeats' },
  message: { ...orNull(text), description: 'Id of the message that the event is about' },
  reason: { ...orNull(text), description: 'Why it was skipped, replayed, discarded or left undelivered' },
  bytes: { type: 'integer', minimum: 0 },
}

const health: Readonly<Record<string, Schema>> = {
  status: choice('healthy', 'warning'),
  reason: orNull(text),
  attempts: integer,
  failures: integer,
}

const attempt = object({
  number: { type: 'integer', minimum: 1 },
  at: instant,
  durationMs: number,
  acknowledged: boolean,
  status: orNull(integer),
  code: orNull(text),
  error: orNull(text),
  retryAfterMs: orNull(number),
  faults: listOf(choice('tampered', 'stale_timestamp', 'frozen_timestamp', 'lost_reply', 'answered')),
  url: text,
  requestHeaders: { type: 'object', additionalProperties: text },
  requestBody: { ...orNull(ref('Bytes')), description: 'Bytes that were sent, if a fault changed the event' },
  replyHeaders: listOf({ type: 'array', prefixItems: [text, text], minItems: 2, maxItems: 2 }),
  replyBody: { ...ref('Bytes'), description: 'At most 64 KiB' },
  truncated: { type: 'boolean', description: 'Whether the reply was longer' },
})

const savedRequest = object({
  format: { const: 'ackhook-delivery-1' },
  receivedAt: instant,
  method: { const: 'POST' },
  url: text,
  headers: listOf(listOf(text)),
  body: { ...text, description: 'Base64 of the exact bytes' },
})

const endpoint = object({
  workspace: text,
  url: { type: 'string', format: 'uri' },
  secret: { type: 'string', description: 'The last four characters, after dots' },
  previousSecretUntil: orNull(instant),
  categories: { ...orNull(listOf(text)), description: 'null: all' },
  types: { ...orNull(listOf(text)), description: 'null: all' },
  paused: boolean,
  health: ref('Health'),
  createdAt: instant,
  updatedAt: instant,
})

const message = object(
  {
    id: text,
    seq: integer,
    workspace: text,
    direction: choice('outbound', 'inbound'),
    channel: text,
    to: text,
    template: text,
    variables: orNull({ type: 'object' }),
    from: text,
    text: text,
    state: choice('accepted', 'sent', 'delivered', 'read', 'failed', 'received'),
    guess: { const: true },
    createdAt: instant,
    updatedAt: instant,
  },
  ['to', 'template', 'variables', 'from', 'text'],
  'Outbound messages have `to`, `template` and `variables`; inbound ones have `from` and `text`. All else is a guess',
)

const faults = options({
  duplicate: chance,
  concurrentDuplicate: chance,
  disorder: chance,
  delay: duration,
  tamper: chance,
  staleTimestamp: chance,
  staleBy: duration,
  frozenTimestamp: boolean,
  lostReply: chance,
  answer: {
    anyOf: [{ type: 'integer', minimum: 200, maximum: 599 }, choice('timeout', 'reset')],
    description: "Replaces the app's reply: a status, no reply within the timeout, or a closed connection",
  },
  answerChance: { ...chance, description: 'Chance of `answer` for each attempt; default 1' },
  answerNext: {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
    description: 'Number of attempts that get `answer`; counts down, and removes `answer` at 0',
  },
})

const rawData: Schema = {
  description: 'JSON text to send unchanged as data, without sample data. Excludes data',
  type: 'string',
  contentMediaType: 'application/json',
}
const seed: Schema = { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 }

const eventToSend: Schema = {
  anyOf: [
    {
      type: 'object',
      description: 'Fields of the event. Omitted fields are generated',
      required: ['type'],
      properties: {
        id: text,
        type: text,
        created_at: instant,
        data: { type: 'object', description: 'Merged over sample data' },
        rawData,
        seed: {
          ...seed,
          description: 'The same seed gives the same sample data; ids are always new',
        },
      },
      not: { required: ['data', 'rawData'] },
    },
    object({ body: { type: 'string', description: 'The exact text to send' } }),
  ],
}

const counts = Object.fromEntries(
  ['pending', 'acknowledged', 'undelivered', 'replayed', 'discarded', 'skipped'].map(state => [
    state,
    integer,
  ]),
)

/** Every schema of the API, by name. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({
    error: object(
      { code: text, message: text, field: { ...text, description: 'Invalid field of the request' } },
      ['field'],
    ),
  }),
  Bytes: object({ text, base64: { ...orNull(text), description: 'Only if the bytes are not UTF-8' } }),
  Selection: options(selection),
  Delivery: object(delivery),
  DeliveryDetail: object({ ...delivery, body: ref('Bytes'), log: listOf(ref('Attempt')) }),
  Attempt: attempt,
  DeliveryPage: object({ deliveries: listOf(ref('Delivery')), next: orNull(text) }),
  EventToSend: eventToSend,
  EventsRequest: object(
    {
      workspace: text,
      faults: ref('Faults'),
      events: { type: 'array', items: ref('EventToSend'), minItems: 1, maxItems: 1000 },
    },
    ['workspace', 'faults'],
  ),
  SentEvent: object({ id: text, deliveries: listOf(ref('Delivery')) }),
  SentEvents: object({ events: listOf(ref('SentEvent')) }),
  ReplayRequest: options({
    mode: choice('signed', 'exact', 'edited'),
    data: { type: 'object', description: 'For edited: merged over the data that was sent' },
    rawData: {
      ...rawData,
      description: 'For edited: JSON text that replaces data, sent unchanged',
    },
    body: { type: 'string', description: 'For edited: the exact text' },
  }),
  BulkRequest: options({
    filter: { ...ref('Selection'), description: 'Default: state undelivered' },
    dryRun: boolean,
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    after: text,
  }),
  BulkResult: object({ matched: integer, done: integer, next: orNull(text) }),
  Faults: faults,
  SavedRequest: savedRequest,
  Health: object(health),
  Endpoint: endpoint,
  EndpointRequest: options({
    url: text,
    secret: text,
    categories: orNull(listOf(text)),
    types: { ...orNull(listOf(text)), description: 'Types or patterns (order.*); null: all' },
    paused: boolean,
  }),
  EndpointResult: object({
    endpoint: ref('Endpoint'),
    secret: { ...orNull(text), description: 'Newly generated secret, shown only once' },
  }),
  RotateRequest: options({ secret: text, overlap: duration }),
  Workspace: object({ id: text, createdAt: instant, endpoint: orNull(ref('Endpoint')) }),
  Workspaces: object({ workspaces: listOf(ref('Workspace')) }),
  Message: message,
  MessagePage: object({ messages: listOf(ref('Message')), next: orNull(text) }),
  MessageEvent: object({ message: ref('Message'), event: ref('SentEvent') }),
  InboundRequest: object({ workspace: text, channel: text, from: text, text }, ['workspace', 'channel']),
  SendMessageRequest: {
    type: 'object',
    required: ['channel', 'to', 'template'],
    properties: {
      channel: text,
      to: { type: 'string', pattern: '^\\+\\d{1,15}$' },
      template: text,
      variables: { type: 'object' },
    },
  },
  EmulatorHealth: object({
    status: { const: 'ready' },
    version: text,
    now: instant,
    counts: object(counts),
    warnings: listOf(text),
    endpoints: listOf(object({ workspace: text, paused: boolean, ...health })),
  }),
  Settings: object({
    categories: listOf(text),
    settings: listOf(
      object({
        name: text,
        value: { type: ['string', 'number', 'boolean', 'null'] },
        published: { type: 'boolean', description: 'Otherwise the value is a guess' },
        meaning: text,
      }),
    ),
  }),
  Stats: object({
    from: instant,
    to: instant,
    widthMs: number,
    buckets: listOf(object({ from: instant, counts: options(counts) })),
  }),
  WaitRequest: options({
    ...selection,
    count: { type: 'integer', minimum: 1, description: 'Number of different events; default 1' },
    idle: { type: 'boolean', description: 'Until no matching event is pending' },
    timeout: { ...duration, description: "At most '60s'; default '10s'" },
  }),
  WaitResult: object({ met: boolean, count: integer, deliveries: listOf(ref('Delivery')) }),
  Clock: object({ now: instant }),
}

/** Query parameters that select deliveries. */
export const SELECTION_PARAMETERS: readonly Schema[] = Object.entries(selection).map(([name, schema]) => ({
  ...{ name, in: 'query', schema },
}))
