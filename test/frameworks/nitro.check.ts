import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sign } from '@ackhook/testing'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { type SqsServer, startSqs } from '../support/sqs.ts'
import { SECRET } from './behavior.ts'
import { installCopies } from './install-copies.ts'
import { FOLDER } from './load.ts'

/** Each version has a folder of its own: the app's `h3` is the one that the version uses. */
const folderOf = (version: string) => `${FOLDER}nitro/${version}`
const appsOf = (version: string) => `${folderOf(version)}/.apps`
const PACKAGES = ['core', 'hono', 'sqlite', 'redis', 'bullmq', 'sqs']
const PEERS = ['hono', 'ioredis', 'bullmq', '@aws-sdk/client-sqs']
const PATIENT = { timeout: 30_000, interval: 50 }

const outside = mkdtempSync(join(tmpdir(), 'ackhook-nitro-'))

let redis: RedisServer
let sqs: SqsServer
beforeAll(async () => {
  removeApps()
  for (const version of Object.keys(VERSIONS))
    installCopies(join(appsOf(version), 'node_modules'), PACKAGES, PEERS)
  redis = await startRedis()
  sqs = await startSqs()
})
afterAll(async () => {
  removeApps()
  rmSync(outside, { recursive: true, force: true })
  await Promise.all([redis?.stop(), sqs?.stop()])
})

const HANDLE = `receiver.on('*', event => console.log('handled', event.id))`
const SECRET_OPTION = 'secret: process.env.SIGNING_SECRET'

/** A route by Node's own request and one by Fetch, in each version. Both need the whole body, which comes in pieces. */
const VERSIONS = {
  2: {
    program: 'nitropack',
    node: `export default fromNodeMiddleware(toNodeHandler(receiver))`,
    fetch: `export default defineEventHandler(event => handle(toWebRequest(event)))`,
  },
  3: {
    program: 'nitro',
    node: `import { fromNodeHandler } from 'nitro/h3'\nexport default fromNodeHandler(toNodeHandler(receiver))`,
    fetch: `export default event => handle(event.req)`,
  },
} as const

function receiverOf(options: string, imports = ''): string {
  return `
import { createReceiver, toFetchHandler } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
${imports}
const receiver = createReceiver({ ${SECRET_OPTION}, ${options} })
${HANDLE}
const handle = toFetchHandler(receiver)
`
}

type Style = 'node' | 'fetch'

const APPS: Readonly<Record<string, readonly [Style, source: string]>> = {
  '@ackhook/core/node': ['node', receiverOf('')],
  '@ackhook/core': ['fetch', receiverOf('')],
  '@ackhook/hono': [
    'fetch',
    `
import { webhooks } from '@ackhook/hono'
import { Hono } from 'hono'
const receiver = webhooks({ ${SECRET_OPTION} })
${HANDLE}
const app = new Hono().post('/webhooks', receiver)
const handle = request => app.fetch(request)
`,
  ],
  '@ackhook/sqlite': [
    'node',
    receiverOf('inbox: sqliteInbox(process.env.INBOX_FILE)', `import { sqliteInbox } from '@ackhook/sqlite'`),
  ],
  '@ackhook/redis': [
    'node',
    receiverOf(
      'store: redisStore(new Redis(process.env.REDIS_URL))',
      `import { redisStore } from '@ackhook/redis'\nimport { Redis } from 'ioredis'`,
    ),
  ],
  '@ackhook/bullmq': [
    'node',
    receiverOf(
      'inbox: bullmqInbox({ connection: process.env.REDIS_URL })',
      `import { bullmqInbox } from '@ackhook/bullmq'`,
    ),
  ],
  '@ackhook/sqs': [
    'node',
    receiverOf(
      `inbox: sqsInbox({
  client: new SQSClient({ useQueueUrlAsEndpoint: false }),
  queueUrl: process.env.QUEUE_URL,
  deadLetters: process.env.DEAD_LETTERS_URL,
  store: redisStore(new Redis(process.env.REDIS_URL)),
})`,
      `
import { redisStore } from '@ackhook/redis'
import { sqsInbox } from '@ackhook/sqs'
import { SQSClient } from '@aws-sdk/client-sqs'
import { Redis } from 'ioredis'`,
    ),
  ],
}

/** What cannot work, with what the user reads. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  '@ackhook/sqlite': /the build left it out: add it to the files that the build copies/,
}

describe.each(Object.entries(VERSIONS))('a build of Nitro %s', (version, nitro) => {
  it.each(Object.entries(APPS))('of an app with %s', async (app, [style, source]) => {
    const folder = join(appsOf(version), app.replace(/\W+/g, '-'))
    mkdirSync(join(folder, 'routes'), { recursive: true })
    writeFileSync(
      join(folder, 'nitro.config.mjs'),
      "export default { compatibilityDate: '2026-04-01', logLevel: 1 }",
    )
    writeFileSync(join(folder, 'routes/webhooks.post.ts'), `${source}\n${nitro[style]}\n`)
    const program = join(folderOf(version), 'node_modules', nitro.program, 'dist/cli/index.mjs')
    await promisify(execFile)(process.execPath, [program, 'build'], { cwd: folder, env: environment() })
    await redis.restart()
    // Outside the checkout, the build finds no package that it does not contain.
    const built = join(outside, `${version}-${app.replace(/\W+/g, '-')}`)
    cpSync(join(folder, '.output/server'), built, { recursive: true, verbatimSymlinks: true })
    const printed = await deliverTo(join(built, 'index.mjs'))
    const refused = REFUSED[app]
    if (refused === undefined) expect(printed).toMatch(/^202 .*^handled evt_1$/ms)
    else expect(printed).toMatch(refused)
  })
})

function removeApps(): void {
  for (const version of Object.keys(VERSIONS)) rmSync(appsOf(version), { recursive: true, force: true })
}

/** Starts the server, sends an event in two pieces, and returns the reply's status and what the server has printed. */
async function deliverTo(file: string): Promise<string> {
  const port = await freePort()
  const env = {
    ...environment(),
    PORT: String(port),
    INBOX_FILE: join(file, '../inbox.db'),
    REDIS_URL: redis.url,
    ...sqs.environment,
    QUEUE_URL: await sqs.createQueue(),
    DEAD_LETTERS_URL: await sqs.createQueue(),
  }
  const child = spawn(process.execPath, [file], { cwd: join(file, '..'), env })
  const ended = once(child, 'exit')
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (printed += String(chunk)))
  try {
    await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), PATIENT)
    // A durable inbox may need longer to start than a request waits: the sender then sends again.
    const status = await vi
      .waitUntil(async () => {
        const one = await sendInPieces(port)
        return (one !== 503 || /Error: /.test(printed)) && one
      }, PATIENT)
      .catch(() => 503)
    if (status === 202) await expect.poll(() => printed, PATIENT).toContain('handled evt_1')
    return `${status} ${printed}`
  } catch (error) {
    return `${error}\n${printed}`
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

async function sendInPieces(port: number): Promise<number | undefined> {
  const event = { id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} }
  const body = JSON.stringify(event)
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': sign(body, { secret: SECRET }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: '/webhooks', method: 'POST', headers }, reply => {
      resolve(reply.resume().statusCode)
    })
    sent.on('error', reject).write(body.slice(0, 20), () => setImmediate(() => sent.end(body.slice(20))))
  })
}

function environment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env
  return { ...env, NO_COLOR: '1', NODE_ENV: 'production', SIGNING_SECRET: SECRET }
}
