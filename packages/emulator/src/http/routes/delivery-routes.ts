import { Hono } from 'hono'
import type { EmulatorApi, EventToSend } from '../../api/emulator-api.ts'
import { fieldsOf } from '../../lib/read-fields.ts'
import { withoutUndefined } from '../../lib/without-undefined.ts'
import { readJson } from '../read-json.ts'
import { jsonReply } from '../reply.ts'

/** Events and deliveries. */
export function deliveryRoutes(api: EmulatorApi): Hono {
  const { deliveries } = api
  const routes = new Hono()
  routes.post('/events', async ({ req }) => {
    const { events, ...options } = fieldsOf(await readJson(req.raw), ['events', 'workspace', 'faults'])
    return jsonReply({ events: await api.sendAll(events as EventToSend[], options) }, 202)
  })
  routes.get('/deliveries', async ({ req }) => {
    const { page, rest } = splitPage(req.query())
    return jsonReply(await deliveries.list(rest, page))
  })
  routes.get('/undelivered', async ({ req }) => {
    const { page, rest } = splitPage(req.query())
    return jsonReply(await deliveries.list({ ...rest, state: 'undelivered' }, page))
  })
  routes.post('/deliveries/replay', async ({ req }) =>
    jsonReply(await deliveries.replayMatching(await readJson(req.raw))),
  )
  routes.post('/deliveries/discard', async ({ req }) =>
    jsonReply(await deliveries.discardMatching(await readJson(req.raw))),
  )
  routes.get('/deliveries/:id', async ({ req }) => jsonReply(await deliveries.get(req.param('id'))))
  routes.get('/deliveries/:id/body', async ({ req }) => {
    const id = req.param('id')
    const bytes = await deliveries.body(id)
    return new Response(Uint8Array.from(bytes), {
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${id}.json"`,
        'cache-control': 'no-store',
      },
    })
  })
  routes.post('/deliveries/:id/replay', async ({ req }) =>
    jsonReply(await deliveries.replay(req.param('id'), await readJson(req.raw)), 202),
  )
  routes.post('/deliveries/:id/retry', async ({ req }) =>
    jsonReply(await deliveries.retryNow(req.param('id')), 202),
  )
  routes.post('/deliveries/:id/discard', async ({ req }) =>
    jsonReply(await deliveries.discard(req.param('id'))),
  )
  return routes
}

/** The page that a query asks for, and what else it has. Texts of numbers are read by the API. */
export function splitPage({ after, order, limit, ...rest }: Readonly<Record<string, string>>): {
  readonly page: object
  readonly rest: Readonly<Record<string, string>>
} {
  return { page: withoutUndefined({ after, order, limit }), rest }
}
