import type { Duration } from '@ackhook/core'
import { Hono } from 'hono'
import type { EmulatorApi } from '../../api/emulator-api.ts'
import { invalid } from '../../errors/emulator-error.ts'
import { fieldsOf } from '../../lib/read-fields.ts'
import { readJson } from '../read-json.ts'
import { jsonReply } from '../reply.ts'

/** Health, settings, faults, clock, wait and reset. */
export function controlRoutes(api: EmulatorApi): Hono {
  const routes = new Hono()
  routes.get('/health', async () => jsonReply(await api.health()))
  routes.get('/settings', async () => jsonReply(await api.settings()))
  routes.get('/stats', async ({ req }) => jsonReply(await api.stats(req.query())))
  routes.get('/faults', async () => jsonReply(await api.faults.get()))
  routes.put('/faults', async ({ req }) => jsonReply(await api.faults.set(await readJson(req.raw))))
  routes.get('/clock', async () => jsonReply({ now: await api.clock.now() }))
  routes.post('/clock/advance', async ({ req }) => {
    const { by } = fieldsOf(await readJson(req.raw), ['by'])
    if (by === undefined) throw invalid('by', "is missing: '5m', for example")
    return jsonReply({ now: await api.clock.advance(by as Duration) })
  })
  routes.post('/wait', async ({ req }) => jsonReply(await api.wait(await readJson(req.raw), req.raw.signal)))
  routes.post('/reset', async ({ req }) => {
    await api.reset(await readJson(req.raw))
    return new Response(null, { status: 204 })
  })
  return routes
}
