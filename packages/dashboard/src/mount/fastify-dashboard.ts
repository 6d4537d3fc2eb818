import { ConfigurationError } from '@ackhook/core'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { DashboardOptions } from '../options/options.ts'
import { createNodeHandler } from './node-dashboard.ts'

/** Options of the plugin: those of the dashboard, and Fastify's own `prefix`. */
export type FastifyDashboardOptions = DashboardOptions<FastifyRequest> & { readonly prefix: string }

/** Fastify's request beside Node's, from which the handler starts. */
const REQUEST = Symbol('fastify request')

/**
 * The dashboard as a plugin of Fastify 5, below `prefix`. Fastify's request is `native`. Replies go straight to the
 * socket: `onRequest` hooks run before it, `onSend` hooks do not. The app's `trustProxy` counts if the option is left
 * out. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * await app.register(dashboard, { prefix: '/ops/webhooks', receiver: app.webhooks, authorize: () => 'read' })
 */
export const fastifyDashboard: FastifyPluginAsync<FastifyDashboardOptions> = async (
  app: FastifyInstance,
  options,
) => {
  if (options.prefix === undefined && app.prefix === '') {
    throw new ConfigurationError(
      'prefix',
      "is missing: without one every path of the app would lead here. For example '/ops/webhooks'",
    )
  }
  const {
    prefix: _,
    logLevel: _1,
    logSerializers: _2,
    ...rest
  } = options as FastifyDashboardOptions & {
    logLevel?: unknown
    logSerializers?: unknown
  }
  type Raw = FastifyRequest['raw'] & { [REQUEST]?: FastifyRequest }
  const handler = createNodeHandler(
    rest,
    (raw: Raw) => trustsProxy(raw[REQUEST]),
    raw => raw[REQUEST] as FastifyRequest,
  )
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const url of ['/', '/*']) {
    app.all(url, (request, reply) => {
      reply.hijack()
      return handler(Object.assign(request.raw, { [REQUEST]: request }), reply.raw)
    })
  }
}

/** Fastify takes the host from `X-Forwarded-Host` where the app's `trustProxy` has the proxy in it. */
function trustsProxy(request: FastifyRequest | undefined): boolean {
  return request?.headers['x-forwarded-host'] !== undefined && request.host !== request.headers.host
}
