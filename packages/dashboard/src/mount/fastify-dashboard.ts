import { ConfigurationError } from '@ackhook/core'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { DashboardOptions } from '../options/options.ts'
import { createNodeHandler } from './node-dashboard.ts'

/** Options of the plugin: the dashboard's options and Fastify's own `prefix`. */
export type FastifyDashboardOptions = DashboardOptions<FastifyRequest> & { readonly prefix: string }

/** Property of Node's request that holds Fastify's. */
const REQUEST = Symbol('fastify request')

/**
 * The dashboard as a Fastify 5 plugin, below `prefix`. `native` is Fastify's request. Replies go straight to the socket:
 * `onRequest` hooks run, `onSend` hooks do not. Without the option `trustProxy`, the app's own applies. Throws
 * `ConfigurationError` for a wrong option.
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
      "is missing: without it, the dashboard would handle every path of the app. For example '/ops/webhooks'",
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

/** Returns whether Fastify took the host from `X-Forwarded-Host`, as it does if the app's `trustProxy` covers the proxy. */
function trustsProxy(request: FastifyRequest | undefined): boolean {
  return request?.headers['x-forwarded-host'] !== undefined && request.host !== request.headers.host
}
