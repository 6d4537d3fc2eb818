import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { eventBody, SECRET, sign } from '../support/receiving.ts'
import { startRedis } from '../support/redis.ts'

const quiet = { info() {}, warn() {}, error() {} }
const leftovers: (() => unknown)[] = []
afterAll(async () => {
  for (const clear of leftovers) await clear()
})
const PATIENCE = { timeout: 60_000, interval: 100 }

/** Stores events as an earlier process has left them. */
async function leave(inbox: Inbox, count: number): Promise<void> {
  const receiver = createReceiver({ secret: SECRET, inbox, concurrency: 0, logger: quiet })
  for (let i = 0; i < count; i++)
    await receiver.ingest(JSON.parse(eventBody({ id: `evt_stored_${i}` })), { source: 'test' })
  await receiver.close()
}

/** Counts what is stored, without a start. */
async function pendingIn(inbox: Inbox): Promise<number> {
  return (await inbox.statsBeforeStart?.())?.pending ?? Number.NaN
}

function databaseIn(folder = mkdtempSync(join(tmpdir(), 'ackhook-forgotten-'))): string {
  leftovers.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return join(folder, 'webhooks.db')
}

interface Program {
  readonly child: ChildProcess
  readonly lines: string[]
  readonly ended: Promise<unknown>
  readonly startedAt: number
}

function run(code: string): Program {
  const { NODE_OPTIONS: _, ...env } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  leftovers.push(() => child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout! }).on('line', line => lines.push(line))
  return {
    child,
    lines,
    startedAt,
    ended: once(child, 'exit').then(([exitCode, signal]) => exitCode ?? signal),
  }
}

const RECEIVER = (inbox: string) => `
import { createReceiver } from '@ackhook/core'
import { gracefulShutdown, toNodeHandler, nodeHealth } from '@ackhook/core/node'
import { sqliteInbox } from '@ackhook/sqlite'
import { bullmqInbox } from '@ackhook/bullmq'
import { createServer } from 'node:http'
const write = (fields, message) => console.log('log ' + fields.code + ' ' + message)
const logger = { info() {}, warn: write, error: write }
const receiver = createReceiver({ secret: '${SECRET}', inbox: ${inbox}, logger })
const handle = () => receiver.on('*', event => console.log('handled ' + event.id))
const serve = () => {
  const [webhooks, probe] = [toNodeHandler(receiver), nodeHealth(receiver)]
  const server = createServer((request, response) => (request.method === 'GET' ? probe : webhooks)(request, response))
  return server.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port))
}
`
const portOf = ({ lines }: Program): Promise<string> =>
  vi.waitFor(() => {
    const line = lines.find(one => one.startsWith('port '))
    if (line === undefined) throw new Error('It does not listen yet.')
    return line.slice(5)
  }, PATIENCE)
const count = ({ lines }: Program, start: string): number =>
  lines.filter(line => line.startsWith(start)).length

describe.concurrent('a durable inbox', () => {
  it('keeps 200 waiting events for a handler that comes five seconds late, and tells that nobody has started it', async () => {
    const path = databaseIn()
    await leave(sqliteInbox(path), 200)
    const app = run(`${RECEIVER(`sqliteInbox(${JSON.stringify(path)})`)}serve(); setTimeout(handle, 5000)`)
    const url = `http://127.0.0.1:${await portOf(app)}`
    await vi.waitFor(() => expect(count(app, 'log never_started')).toBe(1), PATIENCE)
    expect(performance.now() - app.startedAt).toBeGreaterThan(10_000)
    expect(app.lines.find(line => line.startsWith('log never_started'))).toContain('200 events wait now')
    const ready = await fetch(`${url}/ready`)
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'never_started' }])
    expect([count(app, 'handled'), await pendingIn(sqliteInbox(path))]).toEqual([0, 200])
    // The first delivery starts it, as ever.
    const body = eventBody({ id: 'evt_new' })
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
    }
    const deliver = async () => (await fetch(url, { method: 'POST', body, headers })).status
    // On a slow machine the start takes longer than a delivery waits for it: then the sender tries again.
    await vi.waitFor(async () => expect(await deliver()).toBeLessThan(300), PATIENCE)
    await vi.waitFor(() => expect(count(app, 'handled')).toBe(201), PATIENCE)
    expect(count(app, 'log unhandled')).toBe(0)
  })

  it.each([
    ['ends at once', '', 0],
    ['ends after the line', 'setTimeout(() => {}, 10_200)', 1],
  ])('does not keep alive a script that only imports the receiver and %s', async (_, more, told) => {
    const path = databaseIn()
    await leave(sqliteInbox(path), 3)
    const script = run(`${RECEIVER(`sqliteInbox(${JSON.stringify(path)})`)}handle();${more}`)
    expect(await script.ended).toBe(0)
    // The line comes after ten seconds, if the process is still there.
    expect([count(script, 'log never_started'), count(script, 'handled')]).toEqual([told, 0])
    expect(await pendingIn(sqliteInbox(path))).toBe(3)
  })

  it('is started by gracefulShutdown in a worker without a server, once its Redis is there', async () => {
    const port = await freePort()
    const connection = `redis://127.0.0.1:${port}`
    const worker = run(
      `${RECEIVER(`bullmqInbox({ connection: '${connection}' })`)}handle(); gracefulShutdown(receiver)`,
    )
    await vi.waitFor(() => expect(count(worker, 'log store_down')).toBe(1), PATIENCE)
    const redis = await startRedis({ port })
    leftovers.push(() => redis.stop())
    await leave(bullmqInbox({ connection }), 5)
    await vi.waitFor(() => expect(count(worker, 'handled')).toBe(5), PATIENCE)
    expect([count(worker, 'log store_down'), count(worker, 'log store_up')]).toEqual([1, 1])
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  })

  it('is counted on Redis without keeping alive the process that never starts it', async () => {
    const redis = await startRedis()
    leftovers.push(() => redis.stop())
    await leave(bullmqInbox({ connection: redis.url }), 4)
    const script = run(
      `${RECEIVER(`bullmqInbox({ connection: '${redis.url}' })`)}handle(); setTimeout(() => {}, 10_200)`,
    )
    expect(await script.ended).toBe(0)
    expect(script.lines.find(line => line.startsWith('log never_started'))).toContain('4 events wait now')
    expect(await pendingIn(bullmqInbox({ connection: redis.url }))).toBe(4)
  })
})
