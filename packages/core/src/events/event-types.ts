import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { MaybePromise } from '../lib/maybe-promise.ts'

/**
 * Data of `conversation.resolved`, the one event the platform has published in full. A type, not an interface: only
 * then does `isEvent` narrow to it alone and a misspelled field become an error.
 */
export type ConversationResolvedData = {
  /** Starts with `cnv_`. */
  conversation_id: string
  /** `whatsapp` is the one published value; more will come. */
  channel: 'whatsapp' | (string & {})
  /** Party that resolved the conversation. `ai` is the one published value; more will come. */
  resolved_by: 'ai' | (string & {})
}

/**
 * Event types and the shape of their data. Open to declaration merging; lists only types that the platform has
 * published exactly.
 *
 * @example
 * declare module '@ackhook/core' {
 *   interface EventMap {
 *     'message.delivered': { message_id: string }
 *   }
 * }
 */
export interface EventMap {
  // Keep in step with KNOWN_TYPES below and DEFAULT_DATA in packages/testing/src/requests/create-event.ts.
  'conversation.resolved': ConversationResolvedData
}

/** Types that `EventMap` declares. Events of other types are received too. */
export const KNOWN_TYPES: readonly string[] = ['conversation.resolved'] satisfies (keyof EventMap)[]

/** One event. Fields the platform adds to the envelope are kept and can be read through `event['field']`. */
export interface WebhookEvent<Type extends string = string, Data = Record<string, unknown>> {
  /** Starts with `evt_`. The same on every redelivery: pass it on as an idempotency key. */
  readonly id: string
  readonly type: Type
  /** ISO 8601 UTC. Events can arrive out of order. */
  readonly created_at: string
  readonly data: Data
  readonly [field: string]: unknown
}

/** A Standard Schema (zod, valibot, arktype, …) for the data of each type. */
export type EventSchemas = Readonly<Record<string, StandardSchemaV1>>

/**
 * Known event types of a receiver: {@link EventMap}, overridden by its schemas. Schemas without names, as in
 * `ReturnType<typeof createReceiver>`, count as none: else the data of every event would be unknown.
 */
export type KnownEvents<Schemas extends EventSchemas> = string extends keyof Schemas
  ? EventMap
  : Omit<EventMap, keyof Schemas> & SchemaEvents<Schemas>

/** Exists only in types: marks the events of a receiver with the option `strict`. */
declare const STRICT: unique symbol

/** Known events of a receiver, marked if it is strict, so that `on` takes no other types. */
export type EventsOf<Schemas extends EventSchemas, Strict extends boolean> = [Strict] extends [true]
  ? KnownEvents<Schemas> & { readonly [STRICT]: true }
  : KnownEvents<Schemas>

/**
 * Data of each type that has a schema. Merged into {@link EventMap}, these types apply to every receiver in the
 * program, including Fastify's `app.webhooks`, and to {@link EventOf}.
 *
 * @example
 * const events = { 'message.delivered': z.object({ message_id: z.string() }) }
 *
 * declare module '@ackhook/core' {
 *   interface EventMap extends SchemaEvents<typeof events> {}
 * }
 */
export type SchemaEvents<Schemas extends EventSchemas> = {
  [Type in keyof Schemas]: StandardSchemaV1.InferOutput<Schemas[Type]>
}

type Names<Events> = keyof Events & string
type CategoryOf<Type> = Type extends `${infer Category}.${string}` ? Category : never

/**
 * Patterns that `on` accepts: a known type, a category such as `'conversation.*'`, `'*'`, or, unless the receiver is
 * strict, any other string.
 */
export type EventPattern<Events> =
  | Names<Events>
  | `${CategoryOf<Names<Events>>}.*`
  | '*'
  | (Events extends { readonly [STRICT]: true } ? never : string & {})

/** Exists only in types: no event has this field. */
declare const KNOWN: unique symbol

/** Any event of a receiver with these known events. Carries the schemas' types to {@link isEvent}. */
export type AnyEvent<Events, Type extends string = string> = [EventMap, Events] extends [Events, EventMap]
  ? WebhookEvent<Type>
  : WebhookEvent<Type> & { readonly [KNOWN]?: Events }

/** Exists only in types: no literal equals this string, so comparing `type` with a known type rules this event out. */
declare const OTHER: unique symbol
type KnownIn<Events, Category extends string> = Extract<Names<Events>, `${Category}.${string}`>

/** Event of a category, of a known type or of another one. `event.type` tells them apart. */
type CategoryEvent<Events, Category extends string> = [KnownIn<Events, Category>] extends [never]
  ? AnyEvent<Events, `${Category}.${string}`>
  :
      | { [Type in KnownIn<Events, Category>]: WebhookEvent<Type, Events[Type]> }[KnownIn<Events, Category>]
      | AnyEvent<Events, `${Category}.${string}` & { readonly [OTHER]: true }>

/** Event passed to a handler of `Pattern`. {@link EventOf} is the same with one argument. */
export type EventFor<Events, Pattern> =
  Pattern extends Names<Events>
    ? WebhookEvent<Pattern, Events[Pattern]>
    : Pattern extends '*'
      ? AnyEvent<Events>
      : Pattern extends `${infer Category}.*`
        ? CategoryEvent<Events, Category>
        : WebhookEvent<Pattern & string>

/** Second argument of a handler. */
export interface HandlerContext {
  /** 1 for the first attempt at this event. */
  readonly attempt: number
  /** The namespace the event arrived under; empty when none is configured. */
  readonly namespace: string
  /** Arrival time of the event, in milliseconds since the epoch. */
  readonly receivedAt: number
  /**
   * Copy of the exact signed bytes, made at each access. `JSON.parse` rounds whole numbers beyond 2^53, such as another
   * system's ids: if `data` may hold some, parse these bytes with a library that preserves them.
   */
  readonly rawBody: Uint8Array
  /**
   * Aborted when the result no longer counts: the handler timed out, its lease was lost to another process, or the
   * drain ran out of time. Pass it to `fetch` and to database clients. Your own listener must not throw: Node would end
   * the process, and nothing can catch the error.
   */
  readonly signal: AbortSignal
}

/**
 * Sync or async handler. The event counts as handled when its promise resolves; a rejection leads to another attempt.
 */
export type EventHandler<Event = WebhookEvent> = (
  event: Event,
  context: HandlerContext,
) => MaybePromise<unknown>

/**
 * Event of a type or a pattern, for your own functions. Its data types come from {@link EventMap}.
 *
 * @example
 * function close(event: EventOf<'conversation.resolved'>) {
 *   return crm.close(event.data.conversation_id)
 * }
 */
export type EventOf<Pattern extends EventPattern<EventMap>> = EventFor<EventMap, Pattern>

/**
 * Handler of a type or a pattern, for handlers written outside `on`.
 *
 * @example
 * const close: HandlerOf<'conversation.resolved'> = async (event, { signal }) => {
 *   await crm.close(event.data.conversation_id, { signal })
 * }
 */
export type HandlerOf<Pattern extends EventPattern<EventMap>> = EventHandler<EventOf<Pattern>>

/**
 * Narrows an event of a category or of `'*'` to one known type, from the receiver's `events` option or from {@link
 * EventMap}.
 *
 * @example
 * hooks.on('*', event => {
 *   if (isEvent(event, 'conversation.resolved')) event.data.resolved_by
 * })
 */
export function isEvent<Type extends keyof Events & string, Events = EventMap>(
  event: WebhookEvent<string, unknown> & { readonly [KNOWN]?: Events },
  type: Type,
): event is WebhookEvent<Type, Events[Type]> {
  return event.type === type
}
