import { webhooks } from '@ackhook/fastify'
import Fastify, { type FastifyPluginAsync } from 'fastify'
import { expect, it } from 'vitest'
import { load } from './load.ts'

interface Validation {
  readonly valid: boolean
  readonly errors?: unknown
}
interface SwaggerOptions {
  readonly openapi: object
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary?: string }>>>>
}

it.each(['3.0.3', '3.1.0'])(
  'the document of OpenAPI %s is valid and describes only the POST',
  async openapi => {
    const { default: swagger } = await load<{ default: FastifyPluginAsync<SwaggerOptions> }>(
      '@fastify/swagger',
    )
    const { Validator } = await load<{ Validator: new () => { validate(one: object): Promise<Validation> } }>(
      '@seriousme/openapi-schema-validator',
    )
    const app = Fastify()
    await app.register(swagger, { openapi: { openapi, info: { title: 'An app', version: '1.0.0' } } })
    await app.register(webhooks, { secret: 'whsec_openapi_0123456789' })
    app.get('/webhooks', () => 'own')
    app.get('/orders', () => [])
    await app.ready()
    const document = (app as unknown as { swagger(): Document }).swagger()
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true })
    expect(Object.keys(document.paths).sort()).toEqual(['/orders', '/webhooks'])
    expect(Object.keys(document.paths['/webhooks'] ?? {}).sort()).toEqual(['get', 'post'])
    expect(document.paths['/webhooks']?.['post']?.summary).toBe('Receive a webhook event')
    expect((await app.inject('/webhooks')).body).toBe('own')
    expect((await app.inject({ method: 'PUT', url: '/webhooks' })).statusCode).toBe(405)
    await app.close()
  },
)
