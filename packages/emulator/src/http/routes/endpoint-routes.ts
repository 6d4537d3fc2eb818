import { Hono } from 'hono'
import type { EmulatorApi } from '../../api/emulator-api.ts'
import { invalid } from '../../errors/emulator-error.ts'
import { fieldsOf, textField } from '../../lib/read-fields.ts'
import { readJson } from '../read-json.ts'
import { jsonReply } from '../reply.ts'

/** Workspaces and their endpoints. */
export function endpointRoutes({ workspaces, endpoints }: EmulatorApi): Hono {
  const routes = new Hono()
  const none = () => new Response(null, { status: 204 })
  routes.get('/workspaces', async () => jsonReply({ workspaces: await workspaces.list() }))
  routes.post('/workspaces', async ({ req }) => {
    const id = textField(fieldsOf(await readJson(req.raw), ['id']), 'id')
    if (id === undefined) throw invalid('id', 'is missing')
    return jsonReply(await workspaces.create(id), 201)
  })
  routes.delete('/workspaces/:workspace', async ({ req }) => {
    await workspaces.remove(req.param('workspace'))
    return none()
  })
  const path = '/workspaces/:workspace/endpoint'
  routes.get(path, async ({ req }) => jsonReply(await endpoints.get(req.param('workspace'))))
  routes.put(path, async ({ req }) =>
    jsonReply(await endpoints.put(await readJson(req.raw), req.param('workspace'))),
  )
  routes.delete(path, async ({ req }) => {
    await endpoints.remove(req.param('workspace'))
    return none()
  })
  routes.post(`${path}/rotate-secret`, async ({ req }) =>
    jsonReply(await endpoints.rotateSecret(await readJson(req.raw), req.param('workspace'))),
  )
  routes.post(`${path}/pause`, async ({ req }) => jsonReply(await endpoints.pause(req.param('workspace'))))
  routes.post(`${path}/resume`, async ({ req }) => jsonReply(await endpoints.resume(req.param('workspace'))))
  return routes
}
