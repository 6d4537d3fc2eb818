import { Hono } from 'hono'
import type { EmulatorApi } from '../../api/emulator-api.ts'
import { ROUTES, type RouteName } from '../openapi/routes.ts'
import { readJson } from '../read-json.ts'
import { jsonReply } from '../reply.ts'
import { CALLS } from './calls.ts'

/** Creates every route in the table, and the one for an event's bytes, which are not JSON. */
export function apiRoutes(api: EmulatorApi): Hono {
  const routes = new Hono()
  for (const name of Object.keys(ROUTES) as RouteName[]) {
    const [method = '', path = ''] = name.split(' ')
    const { body, reply, status } = ROUTES[name]
    routes.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async ({ req }) => {
      const result = await CALLS[name](api, {
        param: Object.values<string>(req.param())[0] ?? '',
        query: req.query(),
        body: body === undefined ? {} : await readJson(req.raw),
        signal: req.raw.signal,
      })
      return reply === undefined ? new Response(null, { status: 204 }) : jsonReply(result, status)
    })
  }
  routes.get('/deliveries/:id/body', async ({ req }) => {
    const id = req.param('id')
    return new Response(Uint8Array.from(await api.deliveries.body(id)), {
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${id}.json"`,
        'cache-control': 'no-store',
      },
    })
  })
  return routes
}
