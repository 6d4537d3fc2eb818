import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type SqsServer, startSqs } from '../support/sqs.ts'
import { withOwnDependencies, workspacePackages } from '../support/workspace-packages.ts'
import { PAIRINGS } from './peer-versions.ts'
import { run } from './run.ts'

// Tests the packed packages with the oldest and newest peers that each range allows: `npm run test:peers`.

let redis: RedisServer
let postgres: PostgresServer
let sqs: SqsServer
const folders: string[] = []
beforeAll(async () => {
  redis = await startRedis()
  postgres = await startPostgres()
  sqs = await startSqs()
})
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  await redis.stop()
  await postgres.stop()
  await sqs.stop()
})

/** Every program delivers one event, and waits until its handler has run. */
const DELIVER = `
  const { createEvent, signedRequest } = await import('@ackhook/testing')
  const secret = 'whsec_of_a_project_in_a_test'
  async function deliver(hooks, send) {
    const timer = setTimeout(() => { throw new Error('not handled in 20 s') }, 20_000)
    const handled = new Promise(resolve => hooks.on('conversation.resolved', resolve))
    await hooks.start()
    const { status } = await send(signedRequest(createEvent('conversation.resolved'), { secret }))
    if (status !== 202 && status !== 200) throw new Error('replied ' + status)
    await handled
    clearTimeout(timer)
    await hooks.close()
  }
  const toServer = listening => async signed => {
    const server = await listening
    const address = (server.server ?? server).address()
    const reply = await fetch('http://127.0.0.1:' + address.port + '/webhooks', signed)
    await server.close()
    return reply
  }`

/** Programs that end with 0 if the package works with the installed peers. */
const PROGRAMS: Readonly<Record<string, string>> = {
  hono: `${DELIVER}
    const { Hono } = await import('hono')
    const { webhooks } = await import('@ackhook/hono')
    const hooks = webhooks({ secret })
    const app = new Hono().post('/webhooks', hooks)
    await deliver(hooks, signed => app.fetch(new Request('http://localhost/webhooks', signed)))`,
  express: `${DELIVER}
    const { default: express } = await import('express')
    const { webhooks } = await import('@ackhook/express')
    const hooks = webhooks({ secret })
    const app = express().post('/webhooks', hooks)
    await deliver(hooks, toServer(new Promise(resolve => { const server = app.listen(0, () => resolve(server)) })))`,
  fastify: `${DELIVER}
    const { default: fastify } = await import('fastify')
    const { webhooks } = await import('@ackhook/fastify')
    const app = fastify()
    await app.register(webhooks, { path: '/webhooks', secret })
    await deliver(app.webhooks, toServer(app.listen({ port: 0, host: '127.0.0.1' }).then(() => app)))`,
  nestjs: `
    await import('reflect-metadata')
    const { toFetchHandler } = await import('@ackhook/core')
    const { OnWebhook, receiverToken, WebhooksModule } = await import('@ackhook/nestjs')
    const { createEvent, signedRequest } = await import('@ackhook/testing')
    const { Module } = await import('@nestjs/common')
    const { NestFactory } = await import('@nestjs/core')
    const secret = 'whsec_of_a_project_in_a_test'
    let handled = 0
    class Handlers { close() { handled++ } }
    OnWebhook('conversation.resolved')(Handlers.prototype, 'close', Object.getOwnPropertyDescriptor(Handlers.prototype, 'close'))
    class App {}
    Module({ imports: [WebhooksModule.forRoot({ secret })], providers: [Handlers] })(App)
    const app = await NestFactory.createApplicationContext(App)
    const handle = toFetchHandler(app.get(receiverToken()))
    const { status } = await handle(new Request('http://localhost/', signedRequest(createEvent('conversation.resolved'), { secret })))
    await app.close()
    if (status !== 202 || handled !== 1) throw new Error('replied ' + status + ', handled ' + handled)`,
  sqlite: `${DELIVER}
    const { createReceiver, toFetchHandler } = await import('@ackhook/core')
    const { sqliteInbox } = await import('@ackhook/sqlite')
    const hooks = createReceiver({ secret, inbox: sqliteInbox('inbox.db') })
    await deliver(hooks, signed => toFetchHandler(hooks)(new Request('http://localhost/webhooks', signed)))`,
  redis: `
    const { default: Redis } = await import('ioredis')
    const { redisStore } = await import('@ackhook/redis')
    const client = new Redis(process.env.REDIS)
    const store = redisStore(client)
    const outcomes = [await store.claim('id', 'a', { leaseMs: 9000, fingerprint: 1 }), await store.claim('id', 'b', { leaseMs: 9000, fingerprint: 1 })]
    if (outcomes.map(one => one.outcome).join() !== 'claimed,in_flight') throw new Error(JSON.stringify(outcomes))
    client.disconnect()`,
  sqs: `${DELIVER}
    const { createReceiver, memoryStore, toFetchHandler } = await import('@ackhook/core')
    const { sqsInbox } = await import('@ackhook/sqs')
    const { SQSClient } = await import('@aws-sdk/client-sqs')
    const credentials = { accessKeyId: 'any', secretAccessKey: 'any' }
    const client = new SQSClient({ endpoint: process.env.SQS, region: 'us-east-1', credentials })
    const queueUrl = process.env.QUEUE_URL
    const hooks = createReceiver({ secret, inbox: sqsInbox({ client, queueUrl, deadLetters: false, store: memoryStore() }) })
    await deliver(hooks, signed => toFetchHandler(hooks)(new Request('http://localhost/webhooks', signed)))
    client.destroy()`,
  sql: `
    const { default: pg } = await import('pg')
    const { ddl, sqlEffects } = await import('@ackhook/sql')
    const pool = new pg.Pool({ connectionString: process.env.POSTGRES })
    await pool.query('DROP TABLE IF EXISTS ackhook_marks, ackhook_states, ackhook_ids;' + ddl('postgres'))
    const handler = sqlEffects(pool).once('peers', () => {})
    const context = { namespace: '', signal: new AbortController().signal }
    const results = [await handler({ id: 'evt_1' }, context), await handler({ id: 'evt_1' }, context)]
    if (results.join() !== 'ran,done') throw new Error(results.join())
    await pool.end()`,
  dashboard: `
    const { default: fastify } = await import('fastify')
    const { createReceiver } = await import('@ackhook/core')
    const { dashboard } = await import('@ackhook/dashboard/fastify')
    const receiver = createReceiver({ secret: 'whsec_of_a_project_in_a_test' })
    const app = fastify()
    await app.register(dashboard, { prefix: '/ops', receiver, authorize: () => 'read' })
    const { statusCode } = await app.inject('/ops/')
    if (statusCode !== 200) throw new Error('replied ' + statusCode)
    await app.close()
    await receiver.close()`,
  emulator: `
    const { startEmulator } = await import('@ackhook/emulator')
    const emulator = await startEmulator({ port: 0, data: 'emulator.db' })
    if ((await emulator.api.workspaces.list()).length !== 1) throw new Error('no workspace')
    await emulator.close()`,
  opentelemetry: `${DELIVER}
    const { trace } = await import('@opentelemetry/api')
    const { createReceiver, toFetchHandler } = await import('@ackhook/core')
    const { opentelemetry } = await import('@ackhook/opentelemetry')
    if (trace.getTracerProvider() === undefined) throw new Error('no provider')
    const telemetry = opentelemetry()
    const hooks = createReceiver({ secret, observe: telemetry })
    telemetry.watch(hooks)
    await deliver(hooks, signed => toFetchHandler(hooks)(new Request('http://localhost/webhooks', signed)))`,
  'bullmq on Redis': handles(`{ connection: process.env.REDIS, queue }`),
  'bullmq on PostgreSQL': handles(
    `{ postgres: { connectionString: process.env.POSTGRES, migrate: true }, queue }`,
  ),
}

describe.each(PAIRINGS)('@ackhook/%s beside %o', (name, peers) => {
  it('installs without warnings and works', async () => {
    const folder = name.split(' ')[0] ?? ''
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-peers-')))
    folders.push(project)
    writeFileSync(join(project, 'package.json'), '{ "name": "peers", "private": true }\n')
    const wanted = workspacePackages()
      .filter(one => one.folder === folder || one.folder === 'testing')
      .flatMap(withOwnDependencies)
      .map(one => one.folder)
    const files = inject('tarballs').filter(one => wanted.includes(one.folder))
    const exact = Object.entries(peers).map(([peer, version]) => `${peer}@${version}`)
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--strict-peer-deps']
    await run('npm', ['install', ...quiet, ...files.map(one => one.file), ...exact], { cwd: project })
    writeFileSync(join(project, 'program.mjs'), PROGRAMS[name] ?? '')
    const servers = { REDIS: redis.url, POSTGRES: postgres.url, SQS: sqs.endpoint }
    const env = { PATH: process.env['PATH'], ...servers, QUEUE_URL: await sqs.createQueue() }
    await expect(run('node', ['program.mjs'], { cwd: project, env })).resolves.toBeDefined()
  })
})

function handles(options: string): string {
  return `${DELIVER}
    const { createReceiver, toFetchHandler } = await import('@ackhook/core')
    const { bullmqInbox } = await import('@ackhook/bullmq')
    const queue = 'peers-' + process.pid
    const hooks = createReceiver({ secret, inbox: bullmqInbox(${options}) })
    await deliver(hooks, signed => toFetchHandler(hooks)(new Request('http://localhost/webhooks', signed)))`
}
