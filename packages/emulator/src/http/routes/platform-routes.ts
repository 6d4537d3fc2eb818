import { Hono } from 'hono'
import type { EmulatorApi } from '../../api/emulator-api.ts'
import { EmulatorError } from '../../errors/emulator-error.ts'
import { MESSAGES_PATH } from '../../security/request-check.ts'
import { readJson } from '../read-json.ts'
import { errorReply, jsonReply } from '../reply.ts'

/** Header that marks a reply as unpublished. */
const GUESS = { 'x-emulator-guess': 'true' }

/** Creates the platform's one path, `POST /v1/messages`. */
export function platformRoutes(
  { messages }: EmulatorApi,
  reply: { readonly status: number; readonly body: Readonly<Record<string, unknown>> },
): Hono {
  const routes = new Hono()
  routes.post(MESSAGES_PATH, async ({ req }) => {
    try {
      if (!/^Bearer \S+$/i.test(req.header('authorization') ?? '')) {
        throw new EmulatorError('unauthorized', 'send an API key as authorization: Bearer')
      }
      const { id } = await messages.send(await readJson(req.raw))
      return jsonReply(filledIn(reply.body, id), reply.status, GUESS)
    } catch (error) {
      const refusal = errorReply(error)
      refusal.headers.set('x-emulator-guess', 'true')
      return refusal
    }
  })
  return routes
}

/** Fills the id into a reply's template. */
function filledIn(body: unknown, id: string): unknown {
  if (typeof body === 'string') return body.replaceAll('$id', id)
  if (Array.isArray(body)) return body.map(one => filledIn(one, id))
  if (typeof body !== 'object' || body === null) return body
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, filledIn(value, id)]))
}
