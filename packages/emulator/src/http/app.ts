import { Hono } from 'hono'
import type { EmulatorApi } from '../api/emulator-api.ts'
import { EmulatorError } from '../errors/emulator-error.ts'
import type { ChangeFeed } from '../feed/change-feed.ts'
import { hasToken, isApi, isOfPlatform, judgeOrigin, MESSAGES_PATH } from '../security/request-check.ts'
import type { Assets } from './assets.ts'
import { OPENAPI } from './openapi.ts'
import { errorReply, jsonReply, SECURITY_HEADERS } from './reply.ts'
import { apiRoutes, platformRoutes } from './routes.ts'
import { streamReply } from './stream.ts'

export interface AppParts {
  readonly api: EmulatorApi
  readonly feed: ChangeFeed
  readonly assets: Assets
  readonly token: string | undefined
  readonly version: string
  readonly messageReply: { readonly status: number; readonly body: Readonly<Record<string, unknown>> }
}

/** Path of the emulator's own API. */
export const API_ROOT = '/_emulator/v1'

/** Creates the HTTP server's app: the API, the platform's one path, and the page. */
export function createApp(parts: AppParts): Hono {
  const { api, feed, assets, token, version } = parts
  const app = new Hono()
  app.use('*', async (context, next) => {
    const { method, path } = context.req
    const header = (name: string) => context.req.header(name)
    const judgment = judgeOrigin({ method, path, header })
    if (judgment !== undefined) throw toError(judgment)
    if (token !== undefined && isApi(path) && !hasToken(header('authorization'), token)) {
      throw new EmulatorError('unauthorized', 'send the token as authorization: Bearer')
    }
    await next()
  })
  app.use(`${API_ROOT}/*`, async (context, next) => {
    const { lastId } = feed
    await next()
    context.header('x-emulator-position', lastId)
  })
  app.route(API_ROOT, apiRoutes(api))
  app.get(`${API_ROOT}/stream`, ({ req }) =>
    streamReply(feed, req.header('last-event-id') ?? req.query('lastEventId')),
  )
  app.get(`${API_ROOT}/openapi.json`, () => jsonReply({ ...OPENAPI, info: { ...OPENAPI.info, version } }))
  app.route('/', platformRoutes(api, parts.messageReply))
  app.get('*', ({ req }) => {
    const page = isApi(req.path) ? undefined : assets.reply(req.path, req.header('if-none-match'))
    return page ?? errorReply(nothingAt(req.path))
  })
  app.notFound(({ req }) => errorReply(nothingAt(req.path)))
  app.onError(error => errorReply(error))
  return app
}

/** Adds the headers that every reply must have. */
export function withSecurityHeaders(reply: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) reply.headers.set(name, value)
  return reply
}

function nothingAt(path: string): EmulatorError {
  const hint = isOfPlatform(path) ? `: of the platform's paths, only POST ${MESSAGES_PATH} is published` : ''
  return new EmulatorError('not_found', `there is nothing at ${path}${hint}`)
}

function toError({ status, message }: { readonly status: number; readonly message: string }): EmulatorError {
  return new EmulatorError(status === 415 ? 'unsupported_media_type' : 'forbidden', message)
}
