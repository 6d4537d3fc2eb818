import type { IncomingMessage } from 'node:http'
import {
  ConfigurationError,
  type EventSchemas,
  type EventsOf,
  type HandlerContext,
  type MaybePromise,
  type Receiver,
  type ReceiverOptions,
  type WebhookEvent,
} from '@ackhook/core'
import { oneOf } from '@ackhook/core/spi'
import type { DynamicModule, FactoryProvider } from '@nestjs/common'

/** Parts of the app that the webhook's route may keep. By default it has none of them. */
export type Kept = 'guards' | 'interceptors' | 'filters' | 'prefix' | 'versioning'

/** Context of the options `secret` and `namespace`. */
export interface NestContext {
  /** Node's request, which is Express's as well; Fastify's `request.raw`. Its body has not been read. */
  readonly request: IncomingMessage
  /** Values of the path's parameters: `{ workspace: 'acme' }` for `/webhooks/:workspace`. */
  readonly params: Readonly<Record<string, string>>
}

/** Options of a receiver, and of the route that Nest mounts for it. */
export interface ModuleOptions extends ReceiverOptions<EventSchemas, NestContext> {
  /** Path of the route, such as `/webhooks/:workspace`. Default `'/webhooks'`. */
  readonly path?: string | undefined
  /**
   * What the route keeps of the app: its global guards, interceptors and exception filters, its prefix, and the default
   * version in the path. Default: nothing.
   */
  readonly keep?: readonly Kept[] | undefined
  /** Name of this receiver, if the app has several. Default `'default'`. */
  readonly name?: string | undefined
}

/** Where the options come from: a factory with providers that it needs. The name must be known before they exist. */
export interface AsyncOptions<Providers extends readonly unknown[] = readonly unknown[]>
  extends Pick<DynamicModule, 'imports'> {
  readonly name?: string | undefined
  readonly inject?: FactoryProvider['inject']
  readonly useFactory: (...providers: Providers) => MaybePromise<Omit<ModuleOptions, 'name'>>
}

/**
 * Settings of the type {@link NestReceiver}, which no option can change. With the option `strict`, merge it in here too.
 *
 * @example
 * declare module '@ackhook/nestjs' {
 *   interface NestReceiverTypes {
 *     strict: true
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is there for merging
export interface NestReceiverTypes {}

/** Known events of the app's receivers: those of `EventMap`, into which `SchemaEvents` of core adds schemas. */
export type NestEvents = EventsOf<
  Record<never, never>,
  NestReceiverTypes extends { readonly strict: true } ? true : false
>

/** A receiver of the app, to be injected by its token. */
export type NestReceiver = Receiver<NestEvents, NestContext>

/** What `@Inject(REQUEST)` gives a request-scoped provider that handles an event. */
export interface WebhookInvocation {
  readonly event: WebhookEvent
  readonly context: HandlerContext
}

/**
 * Returns the token under which the receiver is injected.
 *
 * @example
 * const { dead } = await app.get<NestReceiver>(receiverToken()).stats()
 */
export function receiverToken(name: string = DEFAULT_NAME): symbol {
  return Symbol.for(`ackhook.receiver.${name}`)
}

export const DEFAULT_NAME = 'default'

/** The options of the route, checked, and the rest, which core checks. */
export interface SplitOptions {
  readonly path: string
  readonly keep: ReadonlySet<Kept>
  readonly receiver: ReceiverOptions<EventSchemas, NestContext>
}

/** Throws {@link ConfigurationError}. */
export function splitOptions(options: ModuleOptions): SplitOptions {
  if (typeof options !== 'object' || options === null)
    throw new ConfigurationError(
      'options',
      'must be an object such as { secret: process.env.SIGNING_SECRET }',
    )
  const { path = '/webhooks', keep = [], name: _, ...receiver } = options
  if (typeof path !== 'string' || !/^\/[^\s?#]*$/.test(path))
    throw new ConfigurationError('path', "must begin with a slash, such as '/webhooks'")
  if (!Array.isArray(keep))
    throw new ConfigurationError('keep', "must be a list, such as ['guards', 'prefix']")
  if ((keep as readonly string[]).includes('pipes')) throw new ConfigurationError('keep', NO_PIPES)
  return { path, keep: new Set(keep.map((one: Kept) => oneOf('keep', one, KEPT))), receiver }
}

const KEPT: readonly Kept[] = ['guards', 'interceptors', 'filters', 'prefix', 'versioning']
const NO_PIPES =
  "cannot keep 'pipes': they change what a controller's method takes, and the signature covers the bytes. Check an event's data with the option events"
