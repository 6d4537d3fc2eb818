import { onceAMinute } from '@ackhook/core/spi'
import { createApi, pathInApi } from '../api/api.ts'
import { type DashboardOptions, resolveOptions } from '../options/options.ts'
import { ApiProblem } from '../protocol/problem.ts'
import { isAllowedHost } from '../security/allowed-host.ts'
import { PAGE_HEADERS } from '../security/page-headers.ts'
import { type ForeignCall, hostOf, refuseForeign } from '../security/refuse-foreign.ts'
import { createAuthorizer, warnOfOpenDoor } from './create-authorizer.ts'
import { servePage } from './serve-page.ts'

/** A request, and what its framework knows of it. */
export interface PageRequest {
  readonly request: Request
  readonly native: unknown
  /** True if the framework trusts the proxy that sent it; the option decides where it is given. */
  readonly trustsProxy: boolean
  /** True if something read the body, and left it nowhere. */
  readonly isConsumed: boolean
}

/** Answers requests below the path where the dashboard is mounted. Throws `ConfigurationError` for a wrong option. */
export function createPages<Native>(
  options: DashboardOptions<Native>,
): (asked: PageRequest) => Promise<Response> {
  const parts = resolveOptions(options)
  warnOfOpenDoor(parts)
  const callerOf = createAuthorizer(parts)
  const api = createApi(parts)
  const report = onceAMinute<NonNullable<ForeignCall['hosts']>>((hosts, more) => {
    parts.logger.warn(
      { code: 'foreign_request', ...hosts },
      `The dashboard refused a call: its page would be on '${hosts.expected}', and it was sent from '${hosts.sent}'${more}. Behind a proxy, have it pass the Host of the browser on, port included, or send that as X-Forwarded-Host and set trustProxy.`,
    )
  }, 100)

  function refuse({ message, hosts }: ForeignCall): Response {
    if (hosts !== undefined) report(`${hosts.expected} ${hosts.sent}`, hosts)
    return new ApiProblem(403, 'foreign_request', message).toReply()
  }

  async function answer({ request, native, trustsProxy, isConsumed }: PageRequest): Promise<Response> {
    const trusts = parts.trustProxy ?? trustsProxy
    const { allowedHosts } = parts
    if (allowedHosts !== undefined && !isAllowedHost(hostOf(request, trusts), allowedHosts))
      return NOT_HERE.toReply()
    const { pathname } = new URL(request.url)
    const caller = await callerOf(request, native)
    if (caller === undefined) return new Response('Forbidden', { status: 403 })
    if (pathInApi(pathname) === undefined) return pageOf(request, pathname)
    const refusal = refuseForeign(request, trusts)
    if (refusal !== undefined) return refuse(refusal)
    if (request.method === 'POST' && isConsumed) return CONSUMED.toReply()
    return api.fetch(request, { caller })
  }

  return async asked => {
    const reply = await answer(asked)
    const headers = new Headers(reply.headers)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    return new Response(reply.body, { status: reply.status, headers })
  }
}

const NOT_HERE = new ApiProblem(
  403,
  'forbidden',
  'This host is not the dashboard: see the option allowedHosts.',
)

const CONSUMED = new ApiProblem(
  500,
  'body_unavailable',
  'Something read the body of this request before the dashboard, and left it nowhere: mount the dashboard before it.',
)

function pageOf(request: Request, pathname: string): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response('Method not allowed', { status: 405, headers: { allow: 'GET, HEAD' } })
  }
  return servePage(request, pathname) ?? new Response('Not found', { status: 404 })
}
