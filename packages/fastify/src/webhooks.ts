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
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RegisterOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { drainOnClose } from './drain-on-close.ts'

/** The receiver that `app.webhooks` is. */
export type FastifyReceiver = Receiver<KnownEvents<Record<never, never>>, FastifyRequest>

/** Where to mount, and under which name. */
export interface FastifyMountOptions {
  /** Path of the route. Default `'/webhooks'`. It answers every method: all but POST get 405. */
  readonly path?: string | undefined
  /** Prepended to `path`, as in every plugin of Fastify. */
  readonly prefix?: string | undefined
  /** The name on the Fastify instance. Default `'webhooks'`; a second registration needs another. */
  readonly decorateAs?: string | undefined
}

/** Where to mount, and the options of a receiver. */
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
 * default, where the app has one, and the request is the context of `secret` and `namespace`. Processing starts in
 * `onReady`; `app.close()` drains it first, from `preClose` on. Replies go straight to the socket: `onResponse` hooks run, `onSend` hooks do not. Throws
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
  // Fastify refuses a Content-Type it cannot read before any parser is asked; the signature decides instead.
  scope.addHook('onRequest', (request, _reply, done) => {
    // From then on it copies all headers each time that they are asked for, so not where it can read it.
    if (request.raw.headers['content-type'] !== 'application/json')
      request.headers = { 'content-type': 'application/octet-stream' }
    done()
  })
  scope.removeAllContentTypeParsers()
  // By its name as well: Fastify parses the header of each request for which it finds only '*'. perf: note 43.
  scope.addContentTypeParser(['application/json', '*'], (_request, payload, done) => done(null, payload))
  scope.all<{ Body?: FastifyRequest['raw'] }>(path, (request, reply) => {
    reply.hijack()
    const neutral = fromNodeRequest(request.raw, request, request.body ?? request.raw)
    void replyTo(receiver, neutral).then(written => writeReply(request.raw, reply.raw, written))
  })
}

/** An app that was made without a logger has one that says nothing, and failures would go unseen. */
function loggerOf(app: FastifyInstance): { logger?: FastifyInstance['log'] } {
  return app.log.level === undefined ? {} : { logger: app.log }
}
