import type { Duration } from '@ackhook/core'
import type { EventOverrides } from '@ackhook/testing'
import { type EmulatorFaults, FAULTS } from './faults.ts'
import {
  choiceField,
  countField,
  cursorField,
  durationField,
  type Field,
  flagField,
  idField,
  listField,
  type Maybe,
  otherField,
  patternField,
  replyField,
  request,
  type TableOf,
  textField,
  timeField,
} from './field.ts'
import { listOf, ref, type Schema, text } from './schema.ts'
import { LIMITS } from './settings.ts'

/** All states, in the order of a delivery's life. */
export const STATES = ['pending', 'acknowledged', 'undelivered', 'replayed', 'discarded', 'skipped'] as const
/** State of a delivery. */
export type DeliveryState = (typeof STATES)[number]

export const KINDS = ['event', 'duplicate', 'replay'] as const
/** Origin of a delivery: a new event, a duplicate from a fault, or a replay. */
export type DeliveryKind = (typeof KINDS)[number]

export const MARKS = [
  'retried',
  'out_of_order',
  'lost_reply',
  'answered',
  'tampered',
  'stale_timestamp',
  'frozen_timestamp',
  'dropped',
] as const
/**
 * What happened to a delivery: it needed more than one attempt, it first arrived after one that was created later, or a
 * fault hit an attempt.
 */
export type DeliveryMark = (typeof MARKS)[number]

/** Filter for deliveries. An omitted field matches any. */
export interface DeliverySelection {
  readonly workspace?: string | undefined
  readonly category?: string | undefined
  /** Type, or pattern as in `on()`: `order.*`. */
  readonly type?: string | undefined
  readonly state?: DeliveryState | undefined
  readonly kind?: DeliveryKind | undefined
  /** What happened to the delivery. */
  readonly mark?: DeliveryMark | undefined
  /** Status, code or error of the last reply: `500`, `5xx`, `>=500`, `500,502`, `ECONNRESET`. */
  readonly status?: string | number | undefined
  /** The last reply exactly as lists show it: `500 handler_failed`. */
  readonly reply?: string | undefined
  /** Id of the event. */
  readonly event?: string | undefined
  /** Id of the message that the event is about. */
  readonly message?: string | undefined
  /** Deliveries that a batch, or the calls of one `replayMatching`, made: its `batch`. */
  readonly batch?: string | undefined
  /** Earliest creation time: ISO 8601, an age (`24h`), `now`, `today` or `yesterday`. `to` is exclusive. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Part of the event, ignoring case; at least three characters. */
  readonly text?: string | undefined
}

/** Shortest text that the trigram index can find. */
export const MIN_TEXT = 3

export const SELECTION: TableOf<DeliverySelection, 'from' | 'to', 'status'> = {
  type: patternField('Event type, or a pattern such as order.*'),
  category: textField('Event category, such as message', { sign: 'name' }),
  state: choiceField(STATES, 'state'),
  status: replyField('Last reply: 500, 5xx, >=500, 500,502, or part of a code or an error'),
  reply: textField('Last reply exactly as listed, such as 500 handler_failed'),
  kind: choiceField(KINDS, 'kind'),
  mark: choiceField(MARKS, 'mark'),
  event: idField('Event id'),
  message: idField('Id of the message in the event'),
  batch: idField('Deliveries that one batch made'),
  text: textField(`Part of the event, ignoring case; at least ${MIN_TEXT} characters`),
  from: timeField('Created then or later: ISO 8601, an age (24h), now, today or yesterday'),
  to: timeField('Created before that time'),
  workspace: idField('Workspace'),
}

/**
 * Filters over what events contain. A count of their matches tells the contents letter by letter, so whoever may not see
 * bodies gets none of them.
 */
export const CONTENT_FILTERS: readonly (keyof DeliverySelection)[] = ['text']

/** A page of a list. */
export interface PageOptions {
  /** `next` of the previous page. */
  readonly after?: string | undefined
  /** Order of the list. Default `'newest'`. */
  readonly order?: 'newest' | 'oldest' | undefined
  /** Default 50, at most 200. */
  readonly limit?: number | undefined
}

export const PAGE: TableOf<PageOptions, 'after'> = {
  limit: countField(`At most this many, up to ${LIMITS.page}`, 1, LIMITS.page, 50),
  order: choiceField(['newest', 'oldest'], 'which', {
    preset: 'newest',
    description: 'Which to list first',
  }),
  after: cursorField(),
}

/** Fields of an event to send. Omitted fields are generated. */
export interface EventFields extends Maybe<EventOverrides> {
  /** JSON text to send unchanged as `data`, without sample data: `{"price": 1.10}`. Excludes `data`. */
  readonly rawData?: string | undefined
  /** The same seed, from 0 to 2^32 - 1, gives the same sample data. Ids are always new. */
  readonly seed?: number | undefined
}

/** An event to send: its fields, or its exact text in `body`. */
export type EventToSend =
  | (EventFields & { readonly type: string; readonly body?: never })
  | { readonly body: string }

const MAX_NAME = 200
const MAX_URL = 2048
const anyObject: Schema = { type: 'object' }
const rawData: Field<string> = otherField({
  description: 'JSON text to send unchanged as data, without sample data. Excludes data',
  type: 'string',
  contentMediaType: 'application/json',
})

export const EVENT: TableOf<{
  id?: string
  type: string
  created_at?: string
  data?: object
  rawData?: string
  seed?: number
}> = {
  id: textField(undefined, { sign: 'id', max: MAX_NAME }),
  type: textField(undefined, { sign: 'type', max: MAX_NAME }),
  created_at: otherField({ type: 'string', format: 'date-time' }),
  data: otherField({ type: 'object', description: 'Merged over sample data' }),
  rawData,
  // The generator has 32 bits of state.
  seed: countField('The same seed gives the same sample data; ids are always new', 0, 2 ** 32 - 1),
}

/** Options for sending events. */
export interface SendOptions {
  /** Default `'default'`. */
  readonly workspace?: string | undefined
  /** Faults for these events, instead of the current ones. */
  readonly faults?: EmulatorFaults | undefined
}

export const SEND: TableOf<SendOptions> = {
  workspace: idField(),
  faults: otherField(ref('Faults')),
}

/** Options for a replay. */
export interface ReplayOptions {
  /**
   * `signed` (default): the same bytes with a new signature. `exact`: the last attempt's exact request, including its
   * signature. `edited`: a new event, with its own id.
   */
  readonly mode?: 'signed' | 'exact' | 'edited' | undefined
  /** Object to merge over the sent `data`. Only for `edited`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
  /** JSON text that replaces `data`, sent as written. Only for `edited`. */
  readonly rawData?: string | undefined
  /** Exact text to send. If it has the old id, the id is replaced. Only for `edited`. */
  readonly body?: string | undefined
  /** Address to send to instead of the endpoint's. The delivery that it repeats keeps its state. */
  readonly to?: string | undefined
}

const toAddress = textField("Address to send to instead of the endpoint's", { sign: 'url', max: MAX_URL })

export const REPLAY: TableOf<ReplayOptions> = {
  mode: choiceField(['signed', 'exact', 'edited'], 'mode'),
  data: otherField({ type: 'object', description: 'For edited: merged over the data that was sent' }),
  rawData: otherField({
    ...rawData.schema,
    description: 'For edited: JSON text that replaces data, sent unchanged',
  }),
  body: textField('For edited: the exact text', { max: LIMITS.eventBytes }),
  to: toAddress,
}

/** Options for a call about many deliveries. Each call handles up to 1,000; continue with `after`. */
export interface BulkOptions {
  /** Default: undelivered deliveries. */
  readonly filter?: DeliverySelection | undefined
  /** Counts without changing anything. Default `false`. */
  readonly dryRun?: boolean | undefined
  /** Default and maximum: 1,000. */
  readonly limit?: number | undefined
  /** `next` of the previous call. That of a `dryRun` changes what it counted, and nothing that matches since. */
  readonly after?: string | undefined
  /** For a replay: address to send to instead of the endpoint's. The deliveries that it repeats keep their state. */
  readonly to?: string | undefined
}

/** Maximum number of deliveries in one call, which keeps its transaction short. */
export const MAX_BULK = 1000

export const BULK: TableOf<BulkOptions> = {
  filter: otherField({ ...ref('Selection'), description: 'Default: state undelivered' }),
  dryRun: flagField(),
  limit: countField(undefined, 1, MAX_BULK),
  after: textField(),
  to: toAddress,
}

/** A change or a send of many that runs in the emulator's process until it ends. */
export interface BatchOptions extends Pick<BulkOptions, 'filter' | 'to' | 'after'> {
  readonly action: 'replay' | 'discard' | 'send'
  /** For `send`: the event. Without an id, each one gets its own. */
  readonly event?: EventToSend | undefined
  /** For `send`: how many. Default 1, at most 1,000,000. */
  readonly count?: number | undefined
  /** For `send`: how many in a second, in real time. Default and maximum: 1,000. */
  readonly perSecond?: number | undefined
  /** For `send`. Default `'default'`. */
  readonly workspace?: string | undefined
}

export const BATCH: TableOf<BatchOptions> = {
  action: choiceField(['replay', 'discard', 'send'], 'action'),
  filter: BULK.filter,
  to: toAddress,
  after: { ...textField(), schema: { ...BULK.after.schema, description: 'The next of a dry run' } },
  event: otherField({ ...ref('EventToSend'), description: 'For send' }),
  count: countField('For send', 1, 1_000_000, 1),
  perSecond: countField('For send: how many in a second', 1, 1000, 1000),
  workspace: idField('For send'),
}

/** Which events to list, as the platform might. */
export interface EventsOptions {
  /** Created then or later: ISO 8601, or an age such as `24h`. Default: all that are kept. */
  readonly since?: string | undefined
  /** Type, or pattern as in `on()`. */
  readonly type?: string | undefined
  readonly workspace?: string | undefined
  /** `next` of the previous page. */
  readonly after?: string | undefined
  /** Default 50, at most 200. */
  readonly limit?: number | undefined
}

export const EVENTS: TableOf<EventsOptions, 'since' | 'after'> = {
  since: timeField('Created then or later: ISO 8601, or an age such as 24h'),
  type: patternField('Event type, or a pattern such as order.*'),
  workspace: idField('Workspace'),
  limit: countField(`At most this many, up to ${LIMITS.page}`, 1, LIMITS.page, 50),
  after: cursorField(),
}

/** A field of the events of some deliveries. */
export interface FieldOptions {
  /** Ids of deliveries, at most 200. */
  readonly ids: readonly string[]
  /** Name in `data`, with dots for nested ones: `contact.id`. */
  readonly name: string
}

export const FIELD: TableOf<FieldOptions> = {
  ids: otherField(listField('Ids of deliveries').schema),
  name: textField('Name in data, with dots for nested ones', { max: 100 }),
}

/** Condition of a wait. */
export interface WaitOptions extends DeliverySelection {
  /** Number of different events that must match. Default 1. */
  readonly count?: number | undefined
  /** Waits until no matching event is pending. The default if no filter and no `count` is given. */
  readonly idle?: boolean | undefined
  /** Limit in real time, at most `'60s'`. Default `'10s'`. */
  readonly timeout?: Duration | undefined
}

export const WAIT: TableOf<WaitOptions, 'from' | 'to' | 'timeout', 'status'> = {
  ...SELECTION,
  count: countField('Number of different events; default 1', 1, 1_000_000),
  idle: flagField('Until no matching event is pending'),
  timeout: durationField("At most '60s'; default '10s'", LIMITS.waitMs),
}

/** Filter and resolution of {@link EmulatorApi.stats}. */
export interface StatsOptions extends DeliverySelection {
  /** Default 60. */
  readonly buckets?: number | undefined
}

export const STATS: TableOf<StatsOptions, 'from' | 'to', 'status'> = {
  ...SELECTION,
  buckets: countField('Divide the time into this many parts', 1, 1000, 60),
}

/** Endpoint settings. Omitted ones stay unchanged. */
export interface EndpointChange {
  readonly url?: string | undefined
  /** New secret, which replaces the old one immediately. Default: generated for a new endpoint. */
  readonly secret?: string | undefined
  /** Categories to send; null for all. */
  readonly categories?: readonly string[] | null | undefined
  /** Types to send within those categories: names, or patterns as in `on()`. null for all. */
  readonly types?: readonly string[] | null | undefined
  readonly paused?: boolean | undefined
}

export const ENDPOINT: TableOf<EndpointChange> = {
  url: textField(undefined, { sign: 'url', max: MAX_URL }),
  secret: textField(),
  categories: listField('null: all'),
  types: listField('Types or patterns (order.*); null: all'),
  paused: flagField(),
}

const YEAR_MS = 365 * 86_400_000

/** Options for a new secret. */
export interface RotateOptions {
  /** Default: a random one. */
  readonly secret?: string | undefined
  /** How long both secrets sign. Default: the option `rotationOverlap`. */
  readonly overlap?: Duration | undefined
}

export const ROTATE: TableOf<RotateOptions, 'overlap'> = {
  secret: textField(),
  overlap: durationField(undefined, YEAR_MS),
}

/** A customer's message. Its format is not published. */
export interface InboundMessage {
  /** Default `'whatsapp'`. */
  readonly channel: string
  readonly from: string
  readonly text: string
}

/** States of an outbound message. Their names are published; the event types are not. */
export const MESSAGE_STATES = ['sent', 'delivered', 'read', 'failed'] as const
/** State of an outbound message. */
export type MessageState = (typeof MESSAGE_STATES)[number]

/** What a workspace may be called. */
export const WORKSPACE_ID: RegExp = /^[A-Za-z0-9_-]{1,64}$/

export const WORKSPACE: TableOf<{ id: string }> = {
  id: { ...idField(), schema: { type: 'string', pattern: WORKSPACE_ID.source } },
}

export const RESET: TableOf<{ everything?: boolean | undefined }> = {
  everything: flagField('Whether to remove workspaces and endpoints too'),
}

export const CLOCK: TableOf<{ by: Duration }, 'by'> = { by: durationField(undefined, YEAR_MS) }

/** Schemas of request bodies, by name. */
export const REQUESTS: Readonly<Record<string, Schema>> = {
  Selection: request(SELECTION),
  EventToSend: {
    anyOf: [
      {
        ...{ type: 'object', description: 'Fields of the event. Omitted fields are generated' },
        ...{ required: ['type'], properties: request(EVENT)['properties'] },
        not: { required: ['data', 'rawData'] },
      },
      request({ body: otherField({ type: 'string', description: 'The exact text to send' }) }, 'body'),
    ],
  },
  EventsRequest: request(
    {
      ...SEND,
      events: otherField({
        ...listOf(ref('EventToSend')),
        ...{ minItems: 1, maxItems: LIMITS.eventsPerCall },
      }),
    },
    'events',
  ),
  ReplayRequest: request(REPLAY),
  BulkRequest: request(BULK),
  BatchRequest: request(BATCH, 'action'),
  FieldRequest: request(FIELD, 'ids', 'name'),
  Faults: request(FAULTS),
  EndpointRequest: request(ENDPOINT),
  RotateRequest: request(ROTATE),
  WaitRequest: request(WAIT),
  ClockRequest: request(CLOCK, 'by'),
  ResetRequest: request(RESET),
  WorkspaceRequest: request(WORKSPACE, 'id'),
  AdvanceRequest: request({ to: choiceField(MESSAGE_STATES, 'state') }, 'to'),
  InboundRequest: request(
    { workspace: idField(), channel: textField(), from: textField(), text: otherField(text) },
    ...['from', 'text'],
  ),
  // Checked only as far as it is published: other fields are allowed.
  SendMessageRequest: {
    type: 'object',
    required: ['channel', 'to', 'template'],
    properties: {
      channel: text,
      to: { type: 'string', pattern: LIMITS.phoneNumber.source },
      template: text,
      variables: anyObject,
    },
  },
}
