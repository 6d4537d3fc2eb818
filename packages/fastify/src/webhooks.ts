import {
  ConfigurationError,
  type EventSchemas,
  type EventsOf,
  type Receiver,
  type ReceiverOptions,
} from '@ackhook/core'
import { fromNodeRequest, writeReply } from '@ackhook/core/node'
import { replyTo, requireReceiver, toReceiver, wrongFramework } from '@ackhook/core/spi'
import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  RegisterOptions,
} from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { drainOnClose } from './drain-on-close.ts'
import { routeOtherMethods } from './other-methods.ts'
import { keepOwnHeaders } from './own-headers.ts'
import { ownOptions } from './own-options.ts'

/**
 * Settings of the type of `app.webhooks`, which no option can change. With the option `strict`, merge it in here too, so
 * that the compiler refuses other types.
 *
 * @example
 * declare module '@ackhook/fastify' {
 *   interface FastifyReceiverTypes {
 *     strict: true
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is there for merging
export interface FastifyReceiverTypes {}

/** Type of `app.webhooks`. */
export type FastifyReceiver = Receiver<
  EventsOf<Record<never, never>, FastifyReceiverTypes extends { readonly strict: true } ? true : false>,
  FastifyRequest
>

/** Path and name of the route. */
export interface FastifyMountOptions {
  /** Path of the route. Default `'/webhooks'`. All methods but POST get 405, unless the app routes them there itself. */
  readonly path?: string | undefined
  /** Prepended to `path`, as for every Fastify plugin. */
  readonly prefix?: string | undefined
  /** The name on the Fastify instance. Default `'webhooks'`; a second registration needs another. */
  readonly decorateAs?: string | undefined
}

/** Path of the route, and the options of a receiver. */
export interface FastifyWebhooksOptions
  extends FastifyMountOptions,
    ReceiverOptions<EventSchemas, FastifyRequest> {}

declare module 'fastify' {
  interface FastifyInstance {
    /** Receiver on which to register handlers before the app is ready. `SchemaEvents` of core adds schemas to its types. */
    webhooks: FastifyReceiver
  }
}

/**
 * Webhooks for Fastify 5. Only this route gets raw bytes, whatever parsers the app has. The default logger is
 * `fastify.log`, if the app has one, and the request is the context of `secret` and `namespace`. Processing starts in
 * `onReady`; `app.close()` drains it, beginning in `preClose`. Replies go straight to the socket: `onResponse` hooks run,
 * `onSend` hooks do not. Headers set earlier with `reply.header` are on the reply, but the reply's own take precedence.
 * Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * await app.register(webhooks, { secret: process.env['SIGNING_SECRET'] })
 * app.webhooks.on('conversation.resolved', async event => {
 *   await crm.close(event.data.conversation_id)
 * })
 */
export const webhooks: FastifyPluginAsync<FastifyWebhooksOptions> = fastifyPlugin(plugin, {
  name: '@ackhook/fastify',
  fastify: '5.x',
})

/**
 * Like `webhooks`, for a shared receiver. You register handlers on that receiver and close it yourself.
 *
 * @example
 * const receiver = createReceiver({ secret: process.env['SIGNING_SECRET'] })
 * await app.register(webhooksOf(receiver), { path: '/webhooks' })
 */
export function webhooksOf<Events>(
  receiver: Receiver<Events, FastifyRequest>,
): FastifyPluginAsync<FastifyMountOptions> {
  requireReceiver(receiver, 'webhooksOf')
  const shared = receiver as unknown as FastifyReceiver
  return fastifyPlugin(
    async (app: FastifyInstance, options: object) => plugin(app, { ...options, receiver: shared }),
    {
      name: '@ackhook/fastify',
      fastify: '5.x',
    },
  )
}

type PluginOptions = FastifyMountOptions &
  Omit<RegisterOptions, keyof FastifyMountOptions> &
  (ReceiverOptions<EventSchemas, FastifyRequest> | { readonly receiver: FastifyReceiver })

/** Throws at once if it was not called by Fastify: Express would complain of a promise before it rejects. */
function plugin(app: FastifyInstance, options: PluginOptions): Promise<void> {
  if (options === undefined) {
    const fix = `is a plugin of Fastify: write await app.register(webhooks, { secret }). For another framework, import webhooks from its adapter, such as '@ackhook/express'`
    throw new ConfigurationError('webhooks', fix, { page: 'frameworks' })
  }
  if (typeof app?.decorate !== 'function')
    throw wrongFramework('webhooks of @ackhook/fastify', 'a Fastify app', app)
  return register(app, options)
}

async function register(app: FastifyInstance, options: PluginOptions): Promise<void> {
  const own = ownOptions(app, options)
  const { path = '/webhooks', decorateAs = 'webhooks', prefix, logLevel, logSerializers, ...rest } = own
  const receiver = toReceiver('receiver' in rest ? sharedReceiver(rest) : { ...loggerOf(app), ...rest })
  if (typeof path !== 'string' || !/^($|\/)/.test(path))
    throw new ConfigurationError('path', "must begin with a slash, such as '/webhooks'")
  if (app.hasDecorator(decorateAs)) {
    throw new ConfigurationError('decorateAs', `app.${decorateAs} already exists; choose another name`)
  }
  app.decorate(decorateAs, receiver)
  app.addHook('onReady', () => receiver.start())
  if (!('receiver' in rest)) drainOnClose(app, receiver)
  // A separate scope keeps changes to parsers and headers away from other routes.
  await app.register(async scope => mount(scope, path, receiver), {
    ...(prefix !== undefined && { prefix }),
    ...(logLevel !== undefined && { logLevel }),
    ...(logSerializers !== undefined && { logSerializers }),
  })
}

function sharedReceiver({ receiver, ...rest }: { readonly receiver: FastifyReceiver }): FastifyReceiver {
  if (typeof receiver?.handle !== 'function') {
    throw new ConfigurationError(
      'receiver',
      'must be the result of createReceiver(options): write webhooksOf(receiver), or pass the options here',
      { page: 'receivers' },
    )
  }
  const [ignored] = Object.keys(rest)
  if (ignored !== undefined) {
    throw new ConfigurationError(ignored, 'would be ignored with a receiver: pass it to createReceiver', {
      page: 'receivers',
    })
  }
  return receiver
}

function mount(scope: FastifyInstance, path: string, receiver: FastifyReceiver): void {
  if (scope.hasRoute({ method: 'POST', url: scope.prefix + path })) {
    throw new ConfigurationError('path', `the app already has a route for POST ${scope.prefix}${path}`)
  }
  passOnEveryContentType(scope)
  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    keepOwnHeaders(reply)
    reply.hijack()
    const stream = (request.body as FastifyRequest['raw'] | undefined) ?? request.raw
    const neutral = fromNodeRequest(request.raw, request, stream)
    void replyTo(receiver, neutral).then(written => writeReply(request.raw, reply.raw, written))
  }
  scope.post(path, DOCUMENTED, handler)
  routeOtherMethods(scope, path, handler)
}

/**
 * What a generated API document says of the route. It checks and serializes nothing: the body is a stream, and the
 * receiver writes the reply itself.
 */
const DOCUMENTED = {
  schema: {
    summary: 'Receive a webhook event',
    description: 'Called by the platform. The request is signed, and its exact bytes are verified.',
    tags: ['webhooks'],
    body: {
      type: 'object',
      required: ['id', 'type', 'created_at', 'data'],
      properties: {
        id: { type: 'string' },
        type: { type: 'string' },
        created_at: { type: 'string', format: 'date-time' },
        data: { type: 'object', additionalProperties: true },
      },
    },
    response: {
      200: { description: 'A duplicate of an event that was accepted before.', type: 'object' },
      202: { description: 'Accepted.', type: 'object' },
      '4xx': { description: 'Refused: the request is not a genuine, valid event.', type: 'object' },
      '5xx': { description: 'Not accepted; the platform may send the event again.', type: 'object' },
    },
  },
  // No validator, instead of one that accepts all: Fastify would call it for each request.
  validatorCompiler: () => undefined as never,
  serializerCompiler: () => JSON.stringify,
} as const

/**
 * Headers that make Fastify call the parser for `'*'`, by method. It refuses a QUERY without a type. Methods without a
 * body are absent: Fastify calls no parser for them.
 */
const READABLE: Readonly<Record<string, FastifyRequest['headers']>> = {
  ...Object.fromEntries(
    ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map(method => [
      method,
      { 'content-type': undefined, 'content-length': '1' },
    ]),
  ),
  QUERY: { 'content-type': 'application/octet-stream' },
}

/**
 * Passes the body's stream to the handler, whatever its Content-Type: the signature decides. Fastify refuses a malformed
 * type before it calls any parser, so the request has another type between the last `preParsing` hook and the parser.
 * Every hook sees the original type.
 */
function passOnEveryContentType(scope: FastifyInstance): void {
  const sent = new WeakMap<FastifyRequest, FastifyRequest['headers'] | undefined>()
  scope.addHook('preParsing', (request, _reply, payload, done) => {
    const readable = READABLE[request.method]
    // Skips the usual type: once headers are replaced, Fastify copies them all on each access.
    if (request.raw.headers?.['content-type'] !== 'application/json' && readable !== undefined) {
      // Reads Node's headers without a copy if the request has none of its own.
      sent.set(request, request.headers === request.raw.headers ? undefined : request.headers)
      request.headers = readable
    }
    done(null, payload)
  })
  scope.removeAllContentTypeParsers()
  // Registered by name as well: Fastify parses the header of each request that matches only '*'. perf: note 43.
  scope.addContentTypeParser(['application/json', '*'], (request, payload, done) => {
    if (sent.has(request)) request.headers = sent.get(request) as FastifyRequest['headers']
    done(null, payload)
  })
}

/** Returns no logger for an app without one: its silent stub would hide failures. */
function loggerOf(app: FastifyInstance): { logger?: FastifyInstance['log'] } {
  return app.log.level === undefined ? {} : { logger: app.log }
}
