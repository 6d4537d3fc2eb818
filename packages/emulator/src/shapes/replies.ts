import { KINDS, MARKS, STATES } from './requests.ts'
import {
  boolean,
  choice,
  instant,
  integer,
  listOf,
  number,
  object,
  orNull,
  ref,
  type Schema,
  text,
} from './schema.ts'

const states = choice(...STATES)
const kinds = choice(...KINDS)

const delivery: Readonly<Record<string, Schema>> = {
  id: text,
  seq: { type: 'integer', description: 'Number that increases with each delivery' },
  arrival: { ...orNull(integer), description: 'Number that increases with each first attempt' },
  workspace: text,
  event: { type: 'string', description: "The event's id" },
  type: text,
  category: text,
  kind: kinds,
  marks: { ...listOf(choice(...MARKS)), description: 'What happened to it' },
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
  lastDurationMs: { ...orNull(number), description: 'From the start of the last attempt to its reply' },
  to: { ...orNull(text), description: "Address that it goes to instead of the endpoint's" },
  batch: { ...orNull(text), description: 'Replay of many that made it' },
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

const batch = object({
  id: text,
  action: choice('replay', 'discard', 'send'),
  about: { ...text, description: 'What it concerns: a filter, or the type of the events' },
  total: integer,
  batch: { ...orNull(text), description: 'Filter for the deliveries that it makes' },
  state: choice('running', 'done', 'stopped', 'failed'),
  done: integer,
  startedAt: instant,
  endedAt: orNull(instant),
  error: orNull(text),
  acknowledged: { type: 'integer', description: 'Deliveries that it made and that were acknowledged' },
  waiting: { type: 'integer', description: 'Deliveries that it made and that have had no reply yet' },
  failures: listOf(object({ reply: text, count: integer })),
})

const counts = Object.fromEntries(STATES.map(state => [state, integer]))

/** Schemas of replies, by name. */
export const REPLIES: Readonly<Record<string, Schema>> = {
  Error: object({
    error: object(
      { code: text, message: text, field: { ...text, description: 'Invalid field of the request' } },
      ['field'],
    ),
  }),
  Bytes: object({ text, base64: { ...orNull(text), description: 'Only if the bytes are not UTF-8' } }),
  Delivery: object(delivery),
  DeliveryDetail: object({
    ...delivery,
    body: ref('Bytes'),
    log: listOf(ref('Attempt')),
    planned: listOf(instant),
  }),
  Attempt: attempt,
  DeliveryPage: object({ deliveries: listOf(ref('Delivery')), next: orNull(text) }),
  EventPage: object({
    events: listOf(
      object({
        id: text,
        type: text,
        createdAt: instant,
        body: { ...text, description: 'The event as sent' },
      }),
    ),
    next: orNull(text),
  }),
  FailureGroups: object({
    groups: listOf(
      object({
        type: text,
        reply: { ...text, description: 'Last reply as lists show it: the filter reply' },
        count: integer,
        firstAt: instant,
        lastAt: instant,
        sample: ref('Delivery'),
        spark: {
          ...listOf(integer),
          description: 'Number over time, from firstAt of all groups to lastAt of all',
        },
      }),
    ),
    counted: integer,
  }),
  FieldValues: object({ values: { type: 'object', additionalProperties: orNull(text) } }),
  Batch: batch,
  Batches: object({ batches: listOf(ref('Batch')) }),
  SentEvent: object({ id: text, deliveries: listOf(ref('Delivery')) }),
  SentEvents: object({ events: listOf(ref('SentEvent')) }),
  BulkResult: object({ matched: integer, done: integer, next: orNull(text), batch: orNull(text) }),
  Receiver: object({
    dashboard: orNull(text),
    traceUrl: orNull(text),
    href: orNull(text),
    state: orNull(text),
    observations: listOf(
      object({ at: instant, kind: text, attempt: orNull(integer), durationMs: orNull(number) }),
    ),
    error: orNull(text),
  }),
  SavedRequest: savedRequest,
  Health: object(health),
  Endpoint: endpoint,
  EndpointResult: object({
    endpoint: ref('Endpoint'),
    secret: { ...orNull(text), description: 'Newly generated secret, shown only once' },
  }),
  Workspace: object({ id: text, createdAt: instant, endpoint: orNull(ref('Endpoint')) }),
  Workspaces: object({ workspaces: listOf(ref('Workspace')) }),
  Message: message,
  MessagePage: object({ messages: listOf(ref('Message')), next: orNull(text) }),
  MessageEvent: object({ message: ref('Message'), event: ref('SentEvent') }),
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
        value: {
          type: ['string', 'number', 'boolean', 'null'],
          description: 'Durations in milliseconds, sizes in bytes',
        },
        text: { ...text, description: 'The value as a person writes it: 24 h, 256 MiB' },
        published: {
          ...orNull(boolean),
          description: 'false: the value is a guess; null: it is about the emulator alone',
        },
        meaning: text,
      }),
    ),
  }),
  Stats: object({
    from: instant,
    to: instant,
    widthMs: number,
    buckets: listOf(object({ from: instant, counts: object(counts, STATES) })),
  }),
  WaitResult: object({ met: boolean, count: integer, deliveries: listOf(ref('Delivery')) }),
  Clock: object({ now: instant }),
}
