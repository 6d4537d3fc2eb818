import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { DashboardOptions } from '../options/options.ts'
import { dashboard } from './dashboard.ts'

/** What Express adds to Node's request. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string
  readonly body?: unknown
  rawBody?: Buffer
}

/**
 * The dashboard as a handler of Express and of `node:http`. `native` is their request. Throws `ConfigurationError` for
 * a wrong option.
 *
 * @example
 * app.use('/ops/webhooks', dashboard({ receiver: hooks, authorize: (_request, req) => roleOf(req.user) }))
 */
export function nodeDashboard<Native extends IncomingMessage = IncomingMessage>(
  options: DashboardOptions<Native>,
): (request: Native, response: ServerResponse) => void {
  const pages = dashboard<Native>(options)
  const listener = getRequestListener(
    (request, env) => pages.fetch(request, (env as unknown as { readonly incoming: Native }).incoming),
    { overrideGlobalObjects: false },
  )
  return (request, response) => void listener(withWhole(request), response)
}

/** Express cuts the mount path off `url`, and its parsers read the body before any handler. */
function withWhole<Native extends MountedRequest>(request: Native): Native {
  if (request.originalUrl !== undefined) request.url = request.originalUrl
  if (request.body !== undefined && request.rawBody === undefined && request.readableEnded)
    request.rawBody = Buffer.from(JSON.stringify(request.body))
  return request
}
