import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type SqsServer, startSqs } from '../support/sqs.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { load } from './load.ts'

type Bundle = (entry: string, out: string) => Promise<string>
type Format = 'esm' | 'cjs'

const run = promisify(execFile)
/** Outside the checkout, a bundle finds no package that it does not contain. */
const outside = mkdtempSync(join(tmpdir(), 'ackhook-bundles-'))
/** Inside, sources find the packages. */
const inside = join(ROOT, 'test/frameworks/.bundles')
rmSync(inside, { recursive: true, force: true })
mkdirSync(inside)
afterAll(() => {
  for (const folder of [inside, outside]) rmSync(folder, { recursive: true, force: true })
})

let redis: RedisServer
let sqs: SqsServer
beforeAll(async () => {
  redis = await startRedis()
  sqs = await startSqs()
})
afterAll(() => Promise.all([redis.stop(), sqs.stop()]))

const endingOf = { esm: 'mjs', cjs: 'cjs' } as const

/** Each bundler writes a file that Node runs, and returns its path. */
const BUNDLERS: Readonly<Record<string, Bundle>> = {
  ...each('esbuild', format => async (entry, out) => {
    const { build } = await load<{ build(options: object): Promise<void> }>('esbuild')
    const outfile = join(out, `app.${endingOf[format]}`)
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format, outfile, logLevel: 'error' })
    return outfile
  }),
  ...each('rolldown', format => async (entry, out) => {
    const { build } = await import('rolldown')
    const file = join(out, `app.${endingOf[format]}`)
    const output = { file, format, codeSplitting: false } as const
    await build({ input: entry, platform: 'node', output, logLevel: 'silent' })
    return file
  }),
  ...each('webpack', format => async (entry, out) => {
    const { default: webpack } = await load<{ default: Webpack }>('webpack')
    const filename = `app.${endingOf[format]}`
    const output = { path: out, filename, ...(format === 'esm' && { module: true }) }
    const experiments = { outputModule: format === 'esm' }
    const options = { entry, output, experiments, target: 'node20', mode: 'production' as const }
    await new Promise<void>((resolve, reject) => {
      webpack(options, (error, stats) => {
        if (error === null && !stats.hasErrors()) resolve()
        else reject(error ?? new Error(stats.toString()))
      })
    })
    return join(out, filename)
  }),
  async ncc(entry, out) {
    const { default: ncc } = await load<{ default: Ncc }>('@vercel/ncc')
    const { code, assets } = await ncc(entry, { quiet: true, cache: false })
    const files = { ...Object.fromEntries(Object.entries(assets).map(([name, one]) => [name, one.source])) }
    for (const [name, text] of Object.entries({ ...files, 'app.mjs': code })) {
      mkdirSync(join(out, name, '..'), { recursive: true })
      writeFileSync(join(out, name), text)
    }
    return join(out, 'app.mjs')
  },
  /** Copies only the files that it could trace, as Next.js, Nitro and serverless hosts do. */
  async '@vercel/nft'(entry, out) {
    const { nodeFileTrace } = await load<Nft>('@vercel/nft')
    const { fileList } = await nodeFileTrace([entry], { base: ROOT, moduleSyncCatchall: true })
    for (const file of fileList)
      cpSync(join(ROOT, file), join(out, file), { recursive: true, verbatimSymlinks: true })
    return join(out, relative(ROOT, entry))
  },
}

type Webpack = (
  options: object,
  done: (error: Error | null, stats: { hasErrors(): boolean; toString(): string }) => void,
) => void
type Ncc = (
  entry: string,
  options: object,
) => Promise<{ code: string; assets: Record<string, { source: string | Uint8Array }> }>
interface Nft {
  nodeFileTrace(files: string[], options: object): Promise<{ fileList: Set<string> }>
}

function each(name: string, bundle: (format: Format) => Bundle): Record<string, Bundle> {
  return Object.fromEntries((['esm', 'cjs'] as const).map(format => [`${name}, ${format}`, bundle(format)]))
}

/** Sends an event whose body arrives in pieces, prints the reply, and waits for the handler. */
const DELIVER = `
import { createHmac } from 'node:crypto'
import { request } from 'node:http'
const secret = 'whsec_bundles_0123456789'
let seen
const handled = new Promise(resolve => (seen = resolve))
async function deliver(port) {
  const body = JSON.stringify({ id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} })
  const t = Math.floor(Date.now() / 1000)
  const digest = createHmac('sha256', secret).update(t + '.' + body).digest('hex')
  const headers = { 'content-type': 'application/json', 'x-service-signature': 't=' + t + ',v1=' + digest }
  const status = await new Promise((resolve, reject) => {
    const sent = request({ port, path: '/webhooks', method: 'POST', headers }, reply => resolve(reply.resume().statusCode))
    sent.on('error', reject).write(body.slice(0, 20))
    setTimeout(() => sent.end(body.slice(20)), 30)
  })
  console.log(status, (await handled).id)
  process.exit()
}
`
const NODE = `
import { createServer } from 'node:http'
import { toNodeHandler } from '@ackhook/core/node'
function serve(receiver) {
  receiver.on('*', seen)
  Promise.resolve(receiver.start()).then(() => {
    const server = createServer(toNodeHandler(receiver)).listen(0, () => deliver(server.address().port))
  }, error => { console.log(error.name + ': ' + error.message); process.exit(1) })
}
`

/** Applications, by the packages that they import. */
const APPS: Readonly<Record<string, string>> = {
  '@ackhook/core/node': `${DELIVER}${NODE}
import { createReceiver } from '@ackhook/core'
serve(createReceiver({ secret }))`,
  '@ackhook/express': `${DELIVER}
import express from 'express'
import { webhooks } from '@ackhook/express'
const hooks = webhooks({ secret }).on('*', seen)
const server = express().post('/webhooks', hooks).listen(0, () => deliver(server.address().port))`,
  '@ackhook/fastify': `${DELIVER}
import Fastify from 'fastify'
import { webhooks } from '@ackhook/fastify'
const app = Fastify()
app.register(webhooks, { secret }).after(() => { app.webhooks.on('*', seen) })
app.listen({ port: 0 }).then(() => deliver(app.server.address().port))`,
  '@ackhook/hono': `${DELIVER}
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { webhooks } from '@ackhook/hono'
const app = new Hono().post('/webhooks', webhooks({ secret }).on('*', seen))
const server = serve({ fetch: app.fetch, port: 0 }, ({ port }) => deliver(port))`,
  '@ackhook/sqlite': `${DELIVER}${NODE}
import { createReceiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
serve(createReceiver({ secret, inbox: sqliteInbox(process.env.INBOX_FILE) }))`,
  '@ackhook/redis': `${DELIVER}${NODE}
import { createReceiver } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { Redis } from 'ioredis'
serve(createReceiver({ secret, store: redisStore(new Redis(process.env.REDIS_URL)) }))`,
  '@ackhook/bullmq': `${DELIVER}${NODE}
import { createReceiver } from '@ackhook/core'
import { bullmqInbox } from '@ackhook/bullmq'
serve(createReceiver({ secret, inbox: bullmqInbox({ connection: process.env.REDIS_URL }) }))`,
  '@ackhook/sqs': `${DELIVER}${NODE}
import { createReceiver, memoryStore } from '@ackhook/core'
import { sqsInbox } from '@ackhook/sqs'
import { SQSClient } from '@aws-sdk/client-sqs'
const inbox = sqsInbox({
  client: new SQSClient({ useQueueUrlAsEndpoint: false }),
  queueUrl: process.env.QUEUE_URL,
  deadLetters: process.env.DEAD_LETTERS_URL,
  store: memoryStore(),
})
serve(createReceiver({ secret, inbox }))`,
}

const NO_THREAD = {
  '@ackhook/sqlite': /ConfigurationError: Option 'inbox': .*keep @ackhook\/sqlite out of the bundle/,
}

/** Combinations that cannot work, with what the user reads. Each must fail at its start. */
const REFUSED: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  'esbuild, esm': {
    '@ackhook/express': /Dynamic require of "\w+" is not supported/,
    '@ackhook/fastify': /Dynamic require of "[\w:/]+" is not supported/,
    '@ackhook/redis': /Dynamic require of "[\w:/]+" is not supported/,
    '@ackhook/bullmq': /Dynamic require of "[\w:/]+" is not supported/,
    '@ackhook/sqs': /Dynamic require of "[\w:/]+" is not supported/,
    ...NO_THREAD,
  },
  'esbuild, cjs': NO_THREAD,
  'rolldown, esm': NO_THREAD,
  'rolldown, cjs': NO_THREAD,
  'webpack, esm': NO_THREAD,
  'webpack, cjs': NO_THREAD,
  ncc: NO_THREAD,
  '@vercel/nft': {
    // A condition in the package.json of one of Express' own dependencies that the tracer does not follow.
    '@ackhook/express': /Cannot find module '.*async-function/,
    '@ackhook/sqlite': /the build left it out: add it to the files that the build copies/,
  },
}

describe.each(Object.entries(BUNDLERS))('a bundle by %s', (bundler, bundle) => {
  it.each(Object.entries(APPS))('of an app with %s', async (app, source) => {
    const name = `${bundler}-${app}`.replace(/\W+/g, '-')
    const entry = join(inside, `${name}.mjs`)
    writeFileSync(entry, source)
    const out = join(outside, name)
    mkdirSync(out)
    const file = await bundle(entry, out)
    // Each bundle has an empty server: the event is the same.
    await redis.restart()
    const printed = await outputOf(file, join(out, 'inbox.db'))
    const refused = REFUSED[bundler]?.[app]
    if (refused === undefined) expect(printed).toMatch(/^202 evt_1$/m)
    else expect(printed).toMatch(refused)
  })
})

async function outputOf(file: string, inboxFile: string): Promise<string> {
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    INBOX_FILE: inboxFile,
    REDIS_URL: redis.url,
    ...sqs.environment,
    QUEUE_URL: await sqs.createQueue(),
    DEAD_LETTERS_URL: await sqs.createQueue(),
  }
  try {
    const { stdout, stderr } = await run(process.execPath, [file], { env, cwd: outside, timeout: 30_000 })
    return stdout + stderr
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout: string; stderr: string }
    return `${stdout}${stderr}${message}`
  }
}
