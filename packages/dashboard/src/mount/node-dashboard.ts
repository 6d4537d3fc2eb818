import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { DashboardOptions } from '../options/options.ts'
import { createPages, REQUEST_UNREADABLE } from './pages.ts'

/** Node's request with the properties that Express adds. */
interface MountedRequest extends IncomingMessage {
  readonly originalUrl?: string
  readonly body?: unknown
  readonly app?: { get?(setting: string): unknown }
  rawBody?: Buffer
}

/**
 * The dashboard as a handler for Express and `node:http`, whose request is `native`. The promise settles when the reply
 * is written or the connection is gone, and never rejects. Without the option `trustProxy`, Express's `trust proxy`
 * applies. Throws `ConfigurationError` for a wrong option.
 *
 * @example
 * app.use('/ops/webhooks', dashboard({ receiver: hooks, authorize: (_request, req) => roleOf(req.user) }))
 */
export function nodeDashboard<Native extends IncomingMessage = IncomingMessage>(
  options: DashboardOptions<Native>,
): (request: Native, response: ServerResponse) => Promise<void> {
  return createNodeHandler<Native, Native>(options, trustsProxy, request => request)
}

/** `trusts` returns whether the framework trusts the proxy that sent a request, `nativeOf` the framework's own request. */
export function createNodeHandler<Raw extends IncomingMessage, Native>(
  options: DashboardOptions<Native>,
  trusts: (request: Raw) => boolean,
  nativeOf: (request: Raw) => Native,
): (request: Raw, response: ServerResponse) => Promise<void> {
  const answer = createPages(options)
  const listener = getRequestListener(
    (request, env) => {
      const raw = (env as unknown as { readonly incoming: Raw }).incoming
      const native = nativeOf(raw)
      return answer({ request, native, trustsProxy: trusts(raw), isConsumed: () => isConsumed(raw) })
    },
    { overrideGlobalObjects: false },
  )
  const handle = async (request: Raw, response: ServerResponse): Promise<void> =>
    void (await listener(withWhole(request), response))
  return (request, response) => {
    const end = endOf(response)
    if (isReadable(request)) handle(request, response).catch(() => refuseUnreadable(response))
    else refuseUnreadable(response)
    return end
  }
}

/** Returns whether a request has what the conversion to a Fetch request needs. */
function isReadable(request: IncomingMessage): boolean {
  try {
    const { method, url, headers } = request
    return /^[A-Z]+$/.test(method ?? '') && typeof url === 'string' && typeof headers === 'object'
  } catch {
    return false
  }
}

/** Replies to a request that threw when it was read, if its response can still be written. */
function refuseUnreadable(response: ServerResponse): void {
  try {
    if (response.headersSent) throw new Error('The head is written.')
    const { status, error, message } = REQUEST_UNREADABLE
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify({ error, message }))
  } catch {
    response.destroy()
  }
}

/** Resolves when a reply is written or its connection is gone. */
function endOf(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    if (response.writableFinished || response.destroyed) return resolve()
    response.once('finish', resolve).once('close', resolve)
  })
}

/** Restores the full URL, which Express strips of the mount path, and the body that a parser has read. */
function withWhole<Native extends MountedRequest>(request: Native): Native {
  if (request.originalUrl !== undefined) request.url = request.originalUrl
  const { body } = request
  if (!request.readableDidRead || request.rawBody !== undefined || body === undefined) return request
  if (body instanceof Uint8Array) request.rawBody = Buffer.from(body)
  else if (typeof body === 'string') request.rawBody = Buffer.from(body)
  else request.rawBody = Buffer.from(JSON.stringify(body))
  return request
}

function isConsumed({ readableDidRead, readableEnded, rawBody }: MountedRequest): boolean {
  return readableDidRead && readableEnded && rawBody === undefined
}

/** Applies Express's `trust proxy` to the address that a request came from. */
function trustsProxy(request: MountedRequest): boolean {
  try {
    const { app, socket } = request
    const trusts = typeof app?.get === 'function' ? app.get('trust proxy fn') : undefined
    return typeof trusts === 'function' && trusts(socket.remoteAddress, 0) === true
  } catch {
    // Another library spoiled the request.
    return false
  }
}
