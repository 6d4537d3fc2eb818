import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { webhooks } from '@ackhook/express'
import type { Request, Response } from 'express'
import { expect, it } from 'vitest'
import { EXPRESS_VERSIONS } from '../../../test/support/express-versions.ts'
import { eventBody, recordingLogger, SECRET, sign } from '../../../test/support/receiving.ts'

setFlagsFromString('--allow-natives-syntax')
const haveSameClass = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: object, b: object) => boolean
const isDictionary = new Function('a', 'return !%HasFastProperties(a)') as (a: object) => boolean

/** Accepts any two dictionaries: they share a class that V8 caches, and may lose, so equality is not certain. */
function areAlike(a: object, b: object): boolean {
  return haveSameClass(a, b) || (isDictionary(a) && isDictionary(b))
}

it.each(EXPRESS_VERSIONS)('%s: requests share a class in V8, and so do responses', async (_, express) => {
  const seen: { request: Request; response: Response }[] = []
  const hooks = webhooks({ secret: SECRET, logger: recordingLogger() })
  hooks.on('*', async () => {})
  const app = express()
  app.use((request, response, next) => {
    seen.push({ request, response })
    next()
  })
  app.post('/webhooks/:workspace', hooks)
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/one`
  for (let i = 0; i < 10; i++) {
    const body = eventBody({ id: `evt_${i}` })
    const headers = { 'x-service-signature': sign(body, { secret: SECRET }) }
    expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(202)
  }
  // Inline caches are not yet warm for the first ones.
  const [one, other] = seen.slice(-2)
  expect(areAlike(one!.request, other!.request)).toBe(true)
  expect(areAlike(one!.response, other!.response)).toBe(true)
  expect(Reflect.ownKeys(other!.request).map(String)).not.toContain('Symbol(ackhook)')
  expect(other!.request).toMatchObject({ originalUrl: '/webhooks/one', params: { workspace: 'one' } })
  await hooks.close()
  server.closeAllConnections()
  server.close()
})
