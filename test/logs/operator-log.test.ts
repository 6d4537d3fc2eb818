import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox, type Logger, memoryInbox } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { sqliteInbox } from '@ackhook/sqlite'
import { fastify } from 'fastify'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../support/receiving.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'

/** A line from pino, Fastify's logger. */
interface PinoLine {
  readonly level: number
  readonly msg: string
  readonly code?: string
  readonly err?: { readonly message: string }
  readonly [field: string]: unknown
}

const INFO = 30
const WARN = 40
const ERROR = 50

function pino(): { readonly logger: Logger; readonly lines: PinoLine[] } {
  const lines: PinoLine[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return { logger: fastify({ logger: { stream } }).log, lines }
}

/** Shortens lines, and omits the warning about the test Redis's settings. */
const shortOf = (lines: readonly PinoLine[]) =>
  lines.filter(({ code }) => code !== 'redis_not_durable').map(({ level, code }) => `${level} ${code}`)

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterEach(() => server.restart())
afterAll(() => server.stop())

let last = 0
async function send(receiver: Pick<ReturnType<typeof createReceiver>, 'handle'>): Promise<number> {
  const request = signedRequest(eventBody({ id: `evt_${last++}` }))
  return (await receiver.handle(request)).status
}

it('pino: a Redis outage is one error with its cause, and one line when a delivery is accepted again', async () => {
  const client = new Redis(server.url, { maxRetriesPerRequest: 0, enableOfflineQueue: false })
  client.on('error', () => {})
  await until('the client is connected', () => client.status === 'ready')
  const { logger, lines } = pino()
  const receiver = createReceiver({ secret: SECRET, logger, store: redisStore(client) }).on('*', () => {})
  onTestFinished(async () => {
    await receiver.close({ timeout: '1s' })
    client.disconnect()
  })
  expect(await send(receiver)).toBe(202)
  lines.length = 0
  await server.kill()
  let refused = 0
  await until('the outage is logged', async () => {
    expect(await send(receiver)).toBe(503)
    refused++
    return lines.length > 0
  })
  await server.restart()
  await until('a delivery is accepted', async () => {
    const status = await send(receiver)
    if (status === 503) refused++
    return status === 202
  })
  expect(shortOf(lines)).toEqual([`${ERROR} store_down`, `${WARN} store_up`])
  expect(lines[0]?.err?.message).toContain('ECONNREFUSED')
  expect(lines[1]?.msg).toMatch(
    new RegExp(`^The inbox or its store works again after \\d+ s; ${refused} deliveries were refused\\.$`),
  )
})

it("pino: a process that only runs handlers logs its queue's outage, and its end once an attempt starts", async () => {
  const options = { connection: server.url, queue: 'logs' }
  const { logger, lines } = pino()
  const attempts: string[] = []
  const worker = createReceiver({ secret: SECRET, logger, inbox: bullmqInbox(options) as Inbox })
  worker.on('*', ({ id }) => void attempts.push(id))
  await worker.start()
  lines.length = 0
  await server.kill()
  await until('the outage is logged', () => lines.some(({ code }) => code === 'store_down'))
  await server.restart()
  const other = createReceiver({
    secret: SECRET,
    concurrency: 0,
    inbox: bullmqInbox(options) as Inbox,
    logger: pino().logger,
  })
  onTestFinished(async () => {
    await Promise.all([worker.close({ timeout: '1s' }), other.close({ timeout: '1s' })])
  })
  await until(
    'an attempt starts, and is logged',
    async () => {
      await send(other)
      return lines.some(({ code }) => code === 'store_up')
    },
    30_000,
  )
  expect(attempts.length).toBeGreaterThan(0)
  expect(shortOf(lines)).toEqual([`${ERROR} store_down`, `${WARN} store_up`])
  expect(lines.find(({ level }) => level === ERROR)?.err?.message).toContain('ECONNREFUSED')
})

it('the default logger: the beginning and the end of an outage are seen', async () => {
  const warnings: string[] = []
  const note = (warning: Error & { readonly code?: string }): void => void warnings.push(warning.message)
  process.on('warning', note)
  const receiver = createReceiver({
    secret: SECRET,
    concurrency: 0,
    inbox: bullmqInbox({ connection: server.url, queue: 'default-logger' }) as Inbox,
  })
  onTestFinished(async () => {
    process.off('warning', note)
    await receiver.close({ timeout: '1s' })
  })
  await receiver.start()
  await server.kill()
  const logged = (text: string) => warnings.some(message => message.includes(text))
  await until('the outage is logged', async () => (await send(receiver)) === 503 && logged('failed in'))
  await server.restart()
  await until('its end is logged', async () => (await send(receiver)) === 202 && logged('works again after'))
})

it('pino: a primary that has become a replica is called a failover, and nothing is promised', async () => {
  const { logger, lines } = pino()
  const receiver = createReceiver({
    secret: SECRET,
    concurrency: 0,
    logger,
    inbox: bullmqInbox({ connection: server.url, queue: 'failover' }) as Inbox,
  })
  onTestFinished(async () => void (await receiver.close({ timeout: '1s' })))
  await receiver.start()
  expect(await send(receiver)).toBe(202)
  const operator = new Redis(server.url)
  onTestFinished(() => operator.disconnect())
  await operator.replicaof('127.0.0.1', '1')
  const failover = () => lines.find(({ msg }) => msg.includes('This looks like a failover'))
  await until(
    'the failover is logged',
    async () => (await send(receiver)) === 503 && failover() !== undefined,
  )
  expect(failover()).toMatchObject({ level: ERROR, code: 'store_down' })
  expect(lines.some(({ msg }) => /no stored event is lost/i.test(msg))).toBe(false)
  await operator.replicaof('NO', 'ONE')
})

it('pino: a lost lease is logged once for many, with what is known of its cause', async () => {
  const client = new Redis(server.url)
  client.on('error', () => {})
  const { logger, lines } = pino()
  const start = (own: Logger) => {
    const inbox = memoryInbox({ store: redisStore(client), lease: '1s' })
    return createReceiver({ secret: SECRET, logger: own, inbox, concurrency: 5 })
  }
  const [first, second] = [start(logger), start(pino().logger)]
  let begun = 0
  first.on('*', (_, { signal }) => {
    begun++
    return new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()))
  })
  second.on('*', () => new Promise<void>(resolve => setTimeout(resolve, 3000).unref()))
  onTestFinished(async () => {
    await Promise.all([first.close({ timeout: '1s' }), second.close({ timeout: '1s' })])
    client.disconnect()
  })
  const bodies = Array.from({ length: 5 }, (_, n) => eventBody({ id: `evt_leased_${n}` }))
  for (const body of bodies) expect((await first.handle(signedRequest(body))).status).toBe(202)
  await until('all run', () => begun === 5)
  // Someone empties the store, and the sender repeats the events to another process.
  await client.flushall()
  for (const body of bodies) await second.handle(signedRequest(body))
  await until('the leases are lost', async () => lines.some(({ code }) => code === 'lease_lost'))
  await until('nothing runs', async () => (await first.stats()).active === 0)
  const lost = lines.filter(({ code }) => code === 'lease_lost')
  expect(lost).toHaveLength(1)
  expect(lost[0]).toMatchObject({
    level: WARN,
    msg: expect.stringContaining('it may run twice. No failure of the'),
  })
})

describe('a file of sqliteInbox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook logs-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'webhooks.db')

  it('pino: a queue that a burst fills is warned of before the first refusal', async () => {
    const { logger, lines } = pino()
    const full = createReceiver({
      secret: SECRET,
      logger,
      inbox: sqliteInbox(join(folder, 'full.db')),
      concurrency: 0,
      capacity: 100,
    })
    onTestFinished(async () => void (await full.close()))
    await full.start()
    // The start's own look at the file comes first.
    await full.stats()
    await until('it is full', async () => (await send(full)) === 503)
    await until('the refusal is logged', () => lines.some(({ code }) => code === 'capacity_exceeded'))
    expect(shortOf(lines)).toEqual([`${WARN} queue_filling`, `${WARN} capacity_exceeded`])
  })

  it('pino: the line for a dead letter has the command that redrives it, and the next start logs waiting events', async () => {
    const first = pino()
    const failing = createReceiver({
      secret: SECRET,
      logger: first.logger,
      inbox: sqliteInbox(file),
      namespace: "o'neill",
      retry: { attempts: 1 },
    })
    failing.on('*', () => Promise.reject(new TypeError('no')))
    await failing.start()
    expect(await send(failing)).toBe(202)
    await until('it is dead', () => first.lines.some(({ level }) => level === ERROR))
    const line = first.lines.find(({ level }) => level === ERROR)
    expect(line).toMatchObject({ namespace: "o'neill", err: { message: 'no' } })
    const command = /To run it again: npx ackhook (.+)$/.exec(String(line?.msg))?.[1]
    expect(command).toContain(`--sqlite '${file}' --namespace 'o'\\''neill'`)
    await until('it is recorded', async () => (await failing.stats()).dead === 1)
    await failing.close()

    const second = pino()
    const later = createReceiver({
      secret: SECRET,
      logger: second.logger,
      inbox: sqliteInbox(file),
      concurrency: 0,
    })
    await later.start()
    await until('the start is logged', () => second.lines.length > 0)
    expect(second.lines).toMatchObject([
      { level: INFO, msg: `0 events wait from an earlier run, 1 dead letter (file ${file}).` },
    ])
    const cli = join(import.meta.dirname, '../../packages/cli/dist/main.js')
    expect(execFileSync('sh', ['-c', `node ${cli} ${command}`], { encoding: 'utf8' })).toContain('1')
    expect(await later.stats()).toMatchObject({ pending: 1, dead: 0 })
    await later.close()
    expect(second.lines.slice(1)).toMatchObject([
      { level: INFO, code: 'drain_begins', pending: 1, active: 0 },
      { level: INFO, code: 'drain_over', handled: 0, withdrawn: 0, left: 1 },
    ])
  })

  it('pino: wrong secrets and failing handlers are logged at their level', async () => {
    const { logger, lines } = pino()
    const receiver = createReceiver({ secret: SECRET, logger, retry: { attempts: 2, minDelay: '5s' } })
    receiver.on('*', () => Promise.reject(new TypeError('no')))
    const forged = () => receiver.handle(signedRequest(eventBody(), { secret: 'whsec_another_0123456789' }))
    for (let i = 0; i < 3; i++) await forged()
    for (let i = 0; i < 3; i++) await send(receiver)
    await until('the handler failed', () => lines.length === 2)
    await forged()
    expect(shortOf(lines)).toEqual([
      `${ERROR} signature_mismatch`,
      `${WARN} undefined`,
      `${WARN} signature_mismatch`,
    ])
    await receiver.close({ timeout: '0s' })
  })
})

it('the default logger prints warnings and errors once, and no information', () => {
  const core = new URL('../../packages/core/dist/index.js', import.meta.url)
  const script = `
    import { createReceiver, toFetchHandler } from '${core}'
    const receiver = createReceiver({ secret: 'whsec_0123456789abcdef' }).on('*', () => {})
    const handle = toFetchHandler(receiver)
    const headers = { 'x-service-signature': 't=' + Math.floor(Date.now() / 1000) + ',v1=' + 'a'.repeat(64) }
    for (let i = 0; i < 100; i++) await handle(new Request('http://localhost/', { method: 'POST', body: '{}', headers }))
    await receiver.start()
    await receiver.close()`
  const startedAt = performance.now()
  const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 50_000,
  })
  expect(stderr.match(/AckhookWarning: /g)).toHaveLength(1)
  expect(stderr).toContain("is SIGNING_SECRET this endpoint's secret?")
  expect(stdout).toBe('')
  // The timer that would write the count does not keep the process alive.
  expect(performance.now() - startedAt).toBeLessThan(50_000)
})
