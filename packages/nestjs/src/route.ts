import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NestContext } from './options.ts'

/** Request and response as the platform passes them to guards, with Node's own and what hands the request on to Nest. */
export interface Call {
  readonly platform: readonly [request: unknown, reply: unknown]
  readonly context: NestContext
  readonly response: ServerResponse
  /** Passes an error to Nest's exception filters. */
  readonly fail: (error: unknown) => void
  /** Tells the platform that the response is written by us. */
  readonly take: () => void
}

/** A part of a platform's adapter of Nest. */
export interface Adapter {
  getType(): string
  getInstance(): unknown
  use(handler: NodeMiddleware): unknown
}

type NodeMiddleware = (
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

interface FastifyParts {
  addHook(
    name: 'onRequest',
    hook: (
      request: { raw: IncomingMessage; is404?: boolean },
      reply: { raw: ServerResponse; hijack(): void },
      done: (error?: Error) => void,
    ) => void,
  ): void
}

/** A path with parameters, such as `/webhooks/:workspace`. */
export class Path {
  readonly #segments: readonly string[]

  constructor(path: string) {
    this.#segments = segmentsOf(path)
  }

  /** Returns the values of the parameters if an address has this path. A slash at its end is allowed. */
  match(url: string = ''): Readonly<Record<string, string>> | undefined {
    const given = segmentsOf(url.split('?', 1)[0] as string)
    if (given.length !== this.#segments.length) return undefined
    const params: Record<string, string> = Object.create(null)
    for (const [i, segment] of this.#segments.entries()) {
      const value = given[i] as string
      if (segment.startsWith(':') && value !== '') params[segment.slice(1)] = decoded(value)
      else if (segment !== value) return undefined
    }
    return params
  }
}

function segmentsOf(path: string): string[] {
  return path.replace(/^\//, '').replace(/\/$/, '').split('/')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** What a module mounts. `path` is known once the app is initialized, before any request. */
export interface Route {
  readonly path: () => Path | undefined
  readonly handle: (call: Call) => void
}

/**
 * Mounts the route before everything that the app adds later: parsers, middleware and its own routes. Only POST is taken
 * there; {@link mountLast} takes what no route of the app has.
 */
export function mountFirst(adapter: Adapter, route: Route): void {
  if (adapter.getType() !== 'fastify') {
    adapter.use(expressMiddleware(route, request => request.method === 'POST'))
    return
  }
  const fastify = adapter.getInstance() as FastifyParts
  fastify.addHook('onRequest', (request, reply, done) => {
    const { raw } = request
    const isOurs = raw.method === 'POST' || request.is404 === true
    const params = isOurs ? route.path()?.match(raw.url) : undefined
    if (params === undefined) return done()
    route.handle({
      platform: [request, reply],
      context: { request: raw, params },
      response: reply.raw,
      fail: error => done(error as Error),
      take: () => reply.hijack(),
    })
  })
}

/** Replies to other methods, unless the app has routes for them. Fastify's hook does so by itself. */
export function mountLast(adapter: Adapter, route: Route): void {
  if (adapter.getType() !== 'fastify') adapter.use(expressMiddleware(route, () => true))
}

function expressMiddleware(route: Route, isOurs: (request: IncomingMessage) => boolean): NodeMiddleware {
  return (request, response, next) => {
    const params = isOurs(request) ? route.path()?.match(request.originalUrl ?? request.url) : undefined
    if (params === undefined) return next()
    route.handle({
      platform: [request, response],
      context: { request, params },
      response,
      fail: next,
      take() {},
    })
  }
}
