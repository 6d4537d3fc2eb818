import { onceAMinute, withDeadline } from '@ackhook/core/spi'
import { createApi, pathInApi } from '../api/api.ts'
import { type DashboardOptions, resolveOptions } from '../options/options.ts'
import { ApiProblem } from '../protocol/protocol.ts'
import { isAllowedHost } from '../security/allowed-host.ts'
import { PAGE_HEADERS } from '../security/page-headers.ts'
import { type ForeignCall, hostOf, refuseForeign } from '../security/refuse-foreign.ts'
import { createAuthorizer, warnOfOpenDoor } from './create-authorizer.ts'
import { servePage } from './serve-page.ts'

/** A request with its framework's view of it. */
export interface PageRequest {
  readonly request: Request
  readonly native: unknown
  /** True if the framework trusts the proxy that sent it. The option `trustProxy` overrides it. */
  readonly trustsProxy: boolean
  /** True if other middleware read the body and did not keep it. */
  readonly isConsumed: () => boolean
}

/** Time limit for a call of the API; shorter than the page's own, so that the page shows this reason. */
const CALL_MS = 20_000

/** Creates a function that replies to requests below the mount path. Throws `ConfigurationError` for a wrong option. */
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
      `The dashboard refused a call: it expected a page on '${hosts.expected}', but the call came from '${hosts.sent}'${more}. If the app is behind a proxy, have the proxy pass on the browser's Host, port included, or send it as X-Forwarded-Host and set trustProxy.`,
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
    if (caller instanceof ApiProblem) return caller.toReply()
    if (pathInApi(pathname) === undefined) return pageOf(request, pathname)
    const refusal = refuseForeign(request, trusts)
    if (refusal !== undefined) return refuse(refusal)
    if (request.method === 'POST' && isConsumed()) return CONSUMED.toReply()
    const called = Promise.resolve(api.fetch(request, { caller }))
    // The inboxes have limits of their own; another may have none.
    return withDeadline(called, { operation: 'inbox', ms: CALL_MS }).catch(() => INBOX_SILENT.toReply())
  }

  return async asked => {
    const reply = isReadable(asked.request) ? await answer(asked) : REQUEST_UNREADABLE.toReply()
    const headers = new Headers(reply.headers)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) headers.set(name, value)
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    return new Response(reply.body, { status: reply.status, headers })
  }
}

const INBOX_SILENT = new ApiProblem(
  503,
  'inbox_unavailable',
  `The inbox did not respond within ${CALL_MS / 1000} s. A change may still be made.`,
)

const NOT_HERE = new ApiProblem(
  403,
  'forbidden',
  'The dashboard does not accept this host name: see the option allowedHosts.',
)

export const REQUEST_UNREADABLE: ApiProblem = new ApiProblem(
  400,
  'request_unreadable',
  'The host passed a request without url, method and headers, or one that throws when read.',
)

function isReadable(request: Request): boolean {
  try {
    request.headers.get('host')
    return URL.canParse(request.url) && typeof request.method === 'string'
  } catch {
    return false
  }
}

const CONSUMED = new ApiProblem(
  500,
  'body_unavailable',
  'Other middleware read the body of this request and did not keep it: mount the dashboard before that middleware.',
)

function pageOf(request: Request, pathname: string): Response {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return new Response('Method not allowed', { status: 405, headers: { allow: 'GET, HEAD' } })
  }
  return servePage(request, pathname) ?? new Response('Not found', { status: 404 })
}
