import {
  ConfigurationError,
  type EventSchemas,
  type KnownEvents,
  type Receiver,
  type ReceiverOptions,
} from '@ackhook/core'
import { fromNodeRequest, writeReply } from '@ackhook/core/node'
import { replyTo, toReceiver } from '@ackhook/core/spi'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, RegisterOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { drainOnClose } from './drain-on-close.ts'

/** The receiver that `app.webhooks` is. */
export type FastifyReceiver = Receiver<KnownEvents<Record<never, never>>, FastifyRequest>

/** Where to mount, and beside it the options of a receiver, or a `receiver` that something else shares. */
export type FastifyWebhooksOptions = {
  /** Path of the route. Default `'/webhooks'`. It answers every method: all but POST get 405. */
  readonly path?: string
  /** Laid before `path`, as in every plugin of Fastify. */
  readonly prefix?: string
  /** The name on the Fastify instance. Default `'webhooks'`; a second registration needs another. */
  readonly decorateAs?: string
} & (ReceiverOptions<EventSchemas, FastifyRequest> | { readonly receiver: FastifyReceiver })

declare module 'fastify' {
  interface FastifyInstance {
    /** Register handlers here, before the app is ready. */
    webhooks: FastifyReceiver
  }
}

/**
 * Webhooks for Fastify 5. Only this route gets raw bytes, whatever parsers the app has. `fastify.log` is the logger by
 * default, where the app has one, and the request is the context of `secret` and `namespace`. Processing starts in
 * `onReady`; `app.close()` drains it first, from `preClose` on, unless you passed in a receiver, which you close
 * yourself. Replies go straight to the socket: `onResponse` hooks run, `onSend` hooks do not. Throws
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

async function plugin(
  app: FastifyInstance,
  options: FastifyWebhooksOptions & RegisterOptions,
): Promise<void> {
  const { path = '/webhooks', decorateAs = 'webhooks', prefix, logLevel, logSerializers, ...rest } = options
  const receiver = toReceiver('receiver' in rest ? sharedReceiver(rest) : { ...loggerOf(app), ...rest })
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
      'must be what createReceiver(options) answers; or leave it out, and give the options here',
    )
  }
  const [ignored] = Object.keys(rest)
  if (ignored !== undefined) {
    throw new ConfigurationError(ignored, 'would be passed over beside a receiver: give it to createReceiver')
  }
  return receiver
}

function mount(scope: FastifyInstance, path: string, receiver: FastifyReceiver): void {
  // Fastify refuses a Content-Type it cannot read before any parser is asked; the signature decides instead.
  scope.addHook('onRequest', (request, _reply, done) => {
    request.headers = { 'content-type': 'application/octet-stream' }
    done()
  })
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.all<{ Body?: FastifyRequest['raw'] }>(path, (request, reply) => {
    reply.hijack()
    replyTo(receiver, fromNodeRequest(request.raw, request, request.body ?? request.raw), answer =>
      writeReply(request.raw, reply.raw, answer),
    )
  })
}

/** An app that was made without a logger has one that says nothing, and failures would go unseen. */
function loggerOf(app: FastifyInstance): { logger?: FastifyInstance['log'] } {
  return app.log.level === undefined ? {} : { logger: app.log }
}
