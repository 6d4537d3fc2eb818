import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Session } from 'node:http2'
import type { Server } from 'node:net'
import { ConfigurationError } from '../errors/errors.ts'
import { settlesWithin } from '../lib/deadline.ts'

/** Server returned by `listen()` or `serve()`, or an app that owns its server, as in Fastify and NestJS. */
export type ClosableServer =
  | Server
  | { readonly server: Server; close(): unknown }
  | { getHttpServer(): Server; close(): unknown }

/** Methods that only `node:http` and `node:https` have. */
interface HttpServer extends Server {
  closeIdleConnections?(): void
  closeAllConnections?(): void
}

/** Ends a server's connections without cutting off a reply. */
export class ServerCloser {
  readonly #server: HttpServer
  readonly #close: () => Promise<unknown>
  readonly #sessions = new Set<Http2Session>()

  /** Throws {@link ConfigurationError} if the argument is not a server. */
  constructor(given: ClosableServer) {
    const server = serverOf(given)
    this.#server = server
    this.#close = async () =>
      given === server ? new Promise(resolve => server.close(resolve)) : given.close()
    server.on('session', (session: Http2Session) => {
      this.#sessions.add(session)
      session.once('close', () => this.#sessions.delete(session))
    })
  }

  /** Calls `listener` in a later turn: once the server listens, or at once if it does. */
  onListening(listener: () => void): void {
    if (this.#server.listening) setImmediate(listener)
    else this.#server.once('listening', listener)
  }

  /** Makes every reply from now on end its connection, so that a load balancer opens the next one elsewhere. */
  endKeepAlive(): void {
    this.#server.prependListener(
      'request',
      ({ httpVersionMajor }: IncomingMessage, response: ServerResponse) => {
        if (httpVersionMajor === 1 && !response.headersSent) response.setHeader('connection', 'close')
      },
    )
  }

  /** Stops listening, and waits for the replies under way. Returns how many connections were cut after `ms`. */
  async close(ms: number): Promise<number> {
    // A server that never listened has nothing to close.
    const closed = this.#close().catch(() => {})
    for (const session of this.#sessions) session.close()
    this.#server.closeIdleConnections?.()
    if (await settlesWithin(closed, ms)) return 0
    const open = await new Promise<number>(resolve => {
      this.#server.getConnections((_, count) => resolve(count ?? 0))
    })
    this.#server.closeAllConnections?.()
    for (const session of this.#sessions) session.destroy()
    return open
  }
}

function serverOf(given: ClosableServer): HttpServer {
  const app = given as { readonly server?: Server; getHttpServer?(): Server } | undefined
  const server = app?.getHttpServer?.() ?? app?.server ?? given
  if (typeof (server as Partial<Server> | undefined)?.getConnections === 'function' && 'close' in given)
    return server as HttpServer
  throw new ConfigurationError(
    'server',
    'must be the result of app.listen() or serve(), or a Fastify or NestJS app',
  )
}
