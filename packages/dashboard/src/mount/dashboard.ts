import { createApi, pathInApi } from '../api/api.ts'
import { type DashboardOptions, resolveOptions } from '../options/options.ts'
import { ApiProblem } from '../protocol/problem.ts'
import { PAGE_HEADERS } from '../security/page-headers.ts'
import { refuseForeign } from '../security/refuse-foreign.ts'
import { createAuthorizer } from './create-authorizer.ts'
import { servePage } from './serve-page.ts'

/** What `dashboard` answers. */
export interface Dashboard<Native = unknown> {
  /**
   * Answers a request below the path where it is mounted. Never rejects. `native` is handed to `authorize`: Hono's
   * context, for example.
   */
  fetch(request: Request, native: Native): Promise<Response>
}

/**
 * Pages to watch an inbox, and to redrive or discard its dead letters. It works below any path and any prefix that a
 * proxy adds. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * const pages = dashboard({
 *   receiver: hooks,
 *   authorize: request => (request.headers.get('x-operator') === 'anna' ? 'admin' : false),
 * })
 * app.all('/ops/webhooks/*', c => pages.fetch(c.req.raw, c))
 */
export function dashboard<Native = unknown>(options: DashboardOptions<Native>): Dashboard<Native> {
  const parts = resolveOptions(options)
  const callerOf = createAuthorizer(parts)
  const api = createApi(parts)
  const answer = async (request: Request, native: unknown): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const caller = await callerOf(request, native)
    if (caller === undefined) return new Response('Forbidden', { status: 403 })
    if (pathInApi(pathname) === undefined) return pageOf(request, pathname)
    const refusal = refuseForeign(request)
    if (refusal !== undefined) return new ApiProblem(403, 'foreign_request', refusal).toReply()
    return api.fetch(request, { caller })
  }
  return {
    async fetch(request, native) {
      const reply = await answer(request, native)
      const headers = new Headers(reply.headers)
      for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
      if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
      return new Response(reply.body, { status: reply.status, headers })
    },
  }
}

function pageOf(request: Request, pathname: string): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response('Method not allowed', { status: 405, headers: { allow: 'GET, HEAD' } })
  }
  return servePage(request, pathname) ?? new Response('Not found', { status: 404 })
}
