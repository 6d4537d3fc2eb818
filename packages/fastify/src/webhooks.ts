import {
  ConfigurationError,
  type EventSchemas,
  type KnownEvents,
  type Receiver,
  type ReceiverOptions,
} from '@ackhook/core'
import { fromNodeRequest, writeReply } from '@ackhook/core/node'
import {
  RECEIVER_OPTIONS,
  refuseUnknownNames,
  replyTo,
  requireReceiver,
  toReceiver,
  wrongFramework,
} from '@ackhook/core/spi'
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

/** The receiver that `app.webhooks` is. */
export type FastifyReceiver = Receiver<KnownEvents<Record<never, never>>, FastifyRequest>

/** Path and name of the route. */
export interface FastifyMountOptions {
  /** Path of the route. Default `'/webhooks'`. All methods but POST get 405, unless the app routes them there itself. */
  readonly path?: string | undefined
  /** Prepended to `path`, as in every plugin of Fastify. */
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
    /** Register handlers here, before the app is ready. `SchemaEvents` of core tells it of schemas. */
    webhooks: FastifyReceiver
  }
}

/**
 * Webhooks for Fastify 5. Only this route gets raw bytes, whatever parsers the app has. `fastify.log` is the logger by
 * default, if the app has one, and the request is the context of `secret` and `namespace`. Processing starts in
 * `onReady`; `app.close()` drains it first, from `preClose` on. Replies go straight to the socket: `onResponse` hooks run,
 * `onSend` hooks do not. Headers set with `reply.header` before are on the reply; those of the reply itself win. Throws
 * `ConfigurationError` for a wrong option.
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
 * The same for a receiver that something else shares, and whose handlers you register on itself. You close it yourself
 * too.
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

const OPTIONS = [
  'path',
  'prefix',
  'decorateAs',
  'receiver',
  'logLevel',
  'logSerializers',
  ...RECEIVER_OPTIONS,
]

async function plugin(app: FastifyInstance, options: PluginOptions): Promise<void> {
  if (options === undefined)
    throw new ConfigurationError('webhooks', 'is a plugin: write await app.register(webhooks, { secret })')
  if (typeof app?.decorate !== 'function')
    throw wrongFramework('webhooks of @ackhook/fastify', 'an app of Fastify')
  refuseUnknownNames(options, OPTIONS, '', '{ secret: process.env.SIGNING_SECRET }')
  const { path = '/webhooks', decorateAs = 'webhooks', prefix, logLevel, logSerializers, ...rest } = options
  const receiver = toReceiver('receiver' in rest ? sharedReceiver(rest) : { ...loggerOf(app), ...rest })
  if (typeof path !== 'string' || !/^($|\/)/.test(path))
    throw new ConfigurationError('path', "must begin with a slash, such as '/webhooks'")
  if (app.hasDecorator(decorateAs)) {
    throw new ConfigurationError('decorateAs', `app.${decorateAs} exists already; choose another name`)
  }
  app.decorate(decorateAs, receiver)
  app.addHook('onReady', () => receiver.start())
  if (!('receiver' in rest)) drainOnClose(app, receiver)
  // A scope of its own: what it does to parsers and headers, no other route sees.
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
      'must be what createReceiver(options) returns: write webhooksOf(receiver); or give the options here',
      { page: 'receivers' },
    )
  }
  const [ignored] = Object.keys(rest)
  if (ignored !== undefined) {
    throw new ConfigurationError(ignored, 'would be ignored beside a receiver: give it to createReceiver', {
      page: 'receivers',
    })
  }
  return receiver
}

function mount(scope: FastifyInstance, path: string, receiver: FastifyReceiver): void {
  if (scope.hasRoute({ method: 'POST', url: scope.prefix + path })) {
    throw new ConfigurationError('path', `the app has a route for POST ${scope.prefix}${path} already`)
  }
  passOnEveryContentType(scope)
  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    keepOwnHeaders(reply)
    reply.hijack()
    const stream = (request.body as FastifyRequest['raw'] | undefined) ?? request.raw
    const neutral = fromNodeRequest(request.raw, request, stream)
    void replyTo(receiver, neutral).then(written => writeReply(request.raw, reply.raw, written))
  }
  scope.post(path, handler)
  routeOtherMethods(scope, path, handler)
}

/**
 * Headers under which Fastify asks the parser for `'*'`, by method. It refuses a QUERY without a type. Methods without a
 * body are not here: it asks no parser then.
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
 * Gives the stream of a body to the handler, whatever its Content-Type: the signature decides. Fastify refuses a type
 * that it cannot read before it asks any parser, so it reads another one between the last `preParsing` hook and
 * the parser. Every hook sees what was sent.
 */
function passOnEveryContentType(scope: FastifyInstance): void {
  const sent = new WeakMap<FastifyRequest, FastifyRequest['headers'] | undefined>()
  scope.addHook('preParsing', (request, _reply, payload, done) => {
    const readable = READABLE[request.method]
    // Fastify copies all headers for each access from then on, so not if it can read the type.
    if (request.raw.headers['content-type'] !== 'application/json' && readable !== undefined) {
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

/** An app that was made without a logger has one that says nothing, and failures would go unseen. */
function loggerOf(app: FastifyInstance): { logger?: FastifyInstance['log'] } {
  return app.log.level === undefined ? {} : { logger: app.log }
}
