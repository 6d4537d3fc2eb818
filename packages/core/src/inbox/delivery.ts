import { platform } from '#platform'
import { ConfigurationError } from '../errors/errors.ts'
import type { WebhookEvent } from '../events/event-types.ts'
import { headerOf, type WebhookRequest } from '../http/request.ts'
import { isPromise, type MaybePromise } from '../lib/maybe-promise.ts'
import type { AsyncContext } from '../platform/platform.ts'
import { type TraceContext, traceContext } from './trace-context.ts'

/** One authentic event between its request and its handlers. */
export interface Delivery {
  /** Hash of namespace and id; identifies the event in an inbox. */
  readonly key: string
  readonly namespace: string
  readonly id: string
  readonly type: string
  /** Exact signed bytes. A durable inbox keeps these, not the parsed JSON. */
  readonly body: Uint8Array
  /**
   * First 32 bits of the bytes' SHA-256, to detect one id used for two bodies. A mismatch is only reported: the sender
   * is authentic, and whether it repeats a body byte for byte is not published.
   */
  readonly fingerprint: number
  /** Milliseconds since the epoch. */
  readonly receivedAt: number
  /**
   * Since when it waits for its first attempt, if an inbox knows a later time than `receivedAt`: that of its last redrive.
   * Milliseconds since the epoch, for figures only.
   */
  readonly queuedAt?: number | undefined
  /** Estimated bytes of memory for body and parsed event. Absent if the delivery was loaded from outside the process. */
  readonly weight?: number | undefined
  /** The event as parsed on arrival. Absent if the delivery was loaded from outside the process. */
  readonly event?: WebhookEvent | undefined
  /** Asks the platform to keep this process alive for work after the reply (Workers). */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** The request's async context. Only if the reply waits for the handlers. */
  readonly asyncContext?: AsyncContext | undefined
  /** Position among the events of its ordering key. Absent without a key. */
  readonly order?: SerialOrder | undefined
  /** Group of events that it shares slots with. Absent without the options that share `concurrency`. */
  readonly group?: string | undefined
  /** The trace that the request belongs to. A durable inbox keeps it with the event, for redrives too. */
  readonly trace?: TraceContext | undefined
}

/** What `serializeBy` and `concurrency.by` know about an event besides the event itself. */
export interface SerializeContext {
  /** The namespace the event arrived under; empty when none is configured. Keys of two namespaces never meet. */
  readonly namespace: string
}

/** The option `concurrency.by`. */
export type GroupBy = (event: WebhookEvent, context: SerializeContext) => string | null | undefined

/** The option `serializeBy`. */
export type SerializeBy = (event: WebhookEvent, context: SerializeContext) => string | null | undefined

/** Key from the option `serializeBy`: events of one key run one at a time. */
export interface SerialOrder {
  /** Includes the namespace: see {@link serialKey}. */
  readonly key: string
  /** The event's `created_at` in milliseconds since the epoch, or its arrival time if that is invalid. */
  readonly createdAt: number
}

/** Returns the fields that identify an event in observations. */
export function eventRef({
  id,
  type,
  namespace,
}: Pick<Delivery, 'id' | 'type' | 'namespace'>): Pick<Delivery, 'id' | 'type' | 'namespace'> {
  return { id, type, namespace }
}

export interface DeliveryParts<Context> {
  readonly namespace: string | ((context: Context) => string)
  readonly serializeBy: SerializeBy | undefined
  readonly groupBy?: 'type' | 'namespace' | GroupBy | undefined
  readonly acknowledge?: 'immediately' | 'after-processing'
  readonly clock: () => number
  /** Derives the trace context to keep from the one in the headers. Called in the request's async context. */
  readonly traceOf?: ((incoming: TraceContext | undefined) => TraceContext | undefined) | undefined
}

/** Turns a verified event and its bytes into a delivery for an inbox. */
export type CreateDelivery<Context> = (
  event: WebhookEvent,
  body: Uint8Array,
  request: Pick<WebhookRequest<Context>, 'headers' | 'context' | 'waitUntil'>,
  weight: number,
) => MaybePromise<Delivery>

export function createDeliveryFactory<Context>(parts: DeliveryParts<Context>): CreateDelivery<Context> {
  return (event, body, request, weight) => {
    const { headers, context } = request
    const waitUntil = waitUntilOf(request)
    const namespace = namespaceOf(parts, context)
    const order = orderOf(parts, event, namespace)
    const group = groupOf(parts, event, namespace)
    const asyncContext = parts.acknowledge === 'after-processing' ? platform.captureContext() : undefined
    const traceparent = headerOf(headers, 'traceparent')
    const incoming = traceparent ? traceContext(traceparent, headerOf(headers, 'tracestate')) : undefined
    // A function that sorts a list, say, changes the event: handlers then get one of their own, as from a durable inbox.
    const isShown = parts.serializeBy !== undefined || typeof parts.groupBy === 'function'
    const trace = parts.traceOf ? parts.traceOf(incoming) : incoming
    const create = (key: string, fingerprint: number): Delivery => ({
      key,
      namespace,
      id: event.id,
      type: event.type,
      body,
      fingerprint,
      receivedAt: parts.clock(),
      weight,
      event: isShown ? undefined : event,
      order,
      group,
      waitUntil,
      asyncContext,
      trace,
    })
    const key = eventKey(namespace, event.id)
    const fingerprint = platform.checksum(body)
    if (!isPromise(key) && !isPromise(fingerprint)) return create(key, fingerprint)
    return Promise.all([key, fingerprint]).then(both => create(...both))
  }
}

/** A host without the function may have anything in its place, or throw: its work then ends with the request. */
function waitUntilOf(request: Pick<WebhookRequest<never>, 'waitUntil'>): WebhookRequest['waitUntil'] {
  try {
    const { waitUntil } = request
    return typeof waitUntil === 'function' ? waitUntil : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the key that identifies an event: a hash of namespace and id. The length prefix keeps `('a', 'bc')` and
 * `('ab', 'c')` apart. The hash keeps keys short, whatever the platform puts into an id, and does not retain the
 * request's text. 128 bits: a collision becomes likely only at about 2^64 ids.
 */
export function eventKey(namespace: string, id: string): MaybePromise<string> {
  return platform.hashText(`${namespace.length}:${namespace}${id}`)
}

function namespaceOf<Context>({ namespace }: DeliveryParts<Context>, context: Context): string {
  const name: unknown = typeof namespace === 'string' ? namespace : namespace(context)
  return typeof name === 'string' ? name : refuse('namespace', name, 'a string')
}

function orderOf<Context>(
  { serializeBy, clock }: DeliveryParts<Context>,
  event: WebhookEvent,
  namespace: string,
): SerialOrder | undefined {
  const key: unknown = serializeBy?.(event, { namespace })
  // `null`, as in data without a value, means no key: one key for all such events would serialize them.
  if (key === undefined || key === null) return undefined
  if (typeof key !== 'string') return refuse('serializeBy', key, 'a string, or undefined for no order')
  const createdAt = Date.parse(event.created_at)
  return { key: serialKey(namespace, key), createdAt: Number.isNaN(createdAt) ? clock() : createdAt }
}

/** Groups are told apart by their first characters: an index, and each process, keeps their names. */
const MAX_GROUP = 128
/** What some databases cut a text at, or read back as another one: NUL, and half of a surrogate pair. */
export const NOT_KEPT: RegExp = /[\p{Surrogate}\0]/gu

function groupOf<Context>(
  { groupBy }: DeliveryParts<Context>,
  event: WebhookEvent,
  namespace: string,
): string | undefined {
  if (groupBy === undefined) return undefined
  if (groupBy === 'type') return groupName(event.type)
  if (groupBy === 'namespace') return groupName(namespace)
  const group: unknown = groupBy(event, { namespace }) ?? ''
  if (typeof group !== 'string')
    return refuse('concurrency.by', group, 'a string, or undefined for the group of the others')
  return groupName(group)
}

function groupName(text: string): string {
  return text.slice(0, MAX_GROUP).replace(NOT_KEPT, '\ufffd')
}

/** Begins a key that includes its namespace, and ends the namespace. */
const UNIT = '\u001f'
/** Escapes {@link UNIT} and itself in a namespace. */
const ESCAPE = '\u001e'

/**
 * Returns the ordering key of an event. Different pairs of namespace and key give different texts. Without a namespace it
 * is the user's own key, unless that begins with {@link UNIT}.
 */
export function serialKey(namespace: string, key: string): string {
  if (namespace === '' && !key.startsWith(UNIT)) return key
  const escaped = namespace.replaceAll(ESCAPE, `${ESCAPE}0`).replaceAll(UNIT, `${ESCAPE}1`)
  return `${UNIT}${escaped}${UNIT}${key}`
}

/** Refuses a wrong type from a user's function. Converting it could turn two keys into one. */
function refuse(option: string, answer: unknown, expected: string): never {
  const isAsync = isPromise(answer)
  // Nothing else handles the promise's rejection, which would end the process.
  if (isAsync) Promise.resolve(answer).catch(() => {})
  const got = isAsync ? 'a promise: it must not be asynchronous' : typeof answer
  throw new ConfigurationError(option, `the function must return ${expected}; it returned ${got}`)
}
