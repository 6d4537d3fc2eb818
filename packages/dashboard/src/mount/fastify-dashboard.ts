import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { DashboardOptions } from '../options/options.ts'
import { nodeDashboard } from './node-dashboard.ts'

/** Options of the plugin: those of the dashboard, and Fastify's own `prefix`. */
export type FastifyDashboardOptions = DashboardOptions<FastifyRequest> & { readonly prefix: string }

/** Fastify's request beside Node's, from which the handler starts. */
const REQUEST = Symbol('fastify request')

/**
 * The dashboard as a plugin of Fastify 5, below `prefix`. Fastify's request is `native`. Replies go straight to the
 * socket: `onRequest` hooks run before it, `onSend` hooks do not. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * await app.register(dashboard, { prefix: '/ops/webhooks', receiver: app.webhooks, authorize: () => 'read' })
 */
export const fastifyDashboard: FastifyPluginAsync<FastifyDashboardOptions> = async (
  app: FastifyInstance,
  options,
) => {
  const {
    prefix: _,
    logLevel: _1,
    logSerializers: _2,
    ...rest
  } = options as FastifyDashboardOptions & {
    logLevel?: unknown
    logSerializers?: unknown
  }
  const { authorize } = rest
  const handler = nodeDashboard<FastifyRequest['raw'] & { [REQUEST]?: FastifyRequest }>({
    ...rest,
    // What is no function goes on as it is, to be refused where every option is checked.
    authorize:
      typeof authorize === 'function'
        ? (request, raw) => authorize(request, raw[REQUEST] as FastifyRequest)
        : authorize,
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  for (const url of ['/', '/*']) {
    app.all(url, (request, reply) => {
      reply.hijack()
      handler(Object.assign(request.raw, { [REQUEST]: request }), reply.raw)
    })
  }
}
