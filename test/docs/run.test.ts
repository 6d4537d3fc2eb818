import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { sign } from '@ackhook/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { inFull } from '../support/in-full.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { ROOT } from '../support/workspace-packages.ts'
import { type Block, readyBlocks } from './blocks.ts'

const secret = 'a-secret-of-at-least-16-bytes'
const folder = `${ROOT}test/docs/.run`
const elsewhere = mkdtempSync(join(tmpdir(), 'ackhook-docs-'))
const home = process.cwd()
const stops: (() => unknown)[] = []
let count = 0
let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
  vi.stubEnv('REDIS_URL', redis.url)
  mkdirSync(folder, { recursive: true })
  // Folder in which an example writes files, such as a database.
  process.chdir(elsewhere)
  vi.stubEnv('SIGNING_SECRET', secret)
  vi.stubEnv('SIGNING_SECRETS', `${secret},the-old-secret-of-16-bytes`)
  vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  for (const method of ['log', 'dir', 'warn', 'error'] as const)
    vi.spyOn(console, method).mockImplementation(() => {})
})
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})
afterAll(async () => {
  await redis.stop()
  process.chdir(home)
  rmSync(folder, { recursive: true, force: true })
  rmSync(elsewhere, { recursive: true, force: true })
})

const blocks = readyBlocks().map(block => ({ ...block, name: `${block.doc}:${block.line}` }))
const of = (run: Block['run']) => blocks.filter(one => one.run === run)

describe.each(of('server'))('$name', block => {
  it('starts a server that accepts a genuine event once, refuses a forged one and stops on a signal', async () => {
    const port = await freePort()
    await start(block, port)
    const url = `http://127.0.0.1:${port}/webhooks`
    await expectPromises(request => fetch(url, request))
    for (const stop of stops.splice(0).reverse()) await stop()
    await expect(fetch(url, signed('evt_late'))).rejects.toThrow()
  })
})

/** Blocks of an app or a worker that has a durable inbox, or may have one. One that only receives handles nothing. */
const apps = blocks.filter(
  ({ run, code }) =>
    run !== 'none' &&
    code.includes('gracefulShutdown(') &&
    !/concurrency: 0|acknowledge: 'after-processing'|store: /.test(code),
)
/** Every block has its secret in one of these forms. */
const SECRET_OPTION = /secret: process\.env(?:\.SIGNING_SECRET|\['SIGNING_SECRET'\])|secret(?=,)/

/** What such blocks differ in: how they run, their inbox and their host. */
const kindOf = ({ run, code }: Block): string =>
  [
    run,
    /\w+Inbox(?=\()/.exec(code)?.[0],
    /@ackhook\/(?:core\/node|express|fastify|hono)/.exec(code)?.[0],
  ].join()
const oneOfEach = [...new Map(apps.map(block => [kindOf(block), block])).values()]

describe.each(inFull(apps, oneOfEach))('$name', block => {
  it('handles what an earlier process left in a durable inbox, within seconds and without a delivery', async () => {
    const [id, { code, ...rest }] = [`evt_stored_${count}`, block]
    const path = join(elsewhere, `${id}.db`)
    const open = (): Inbox =>
      code.includes('bullmqInbox') ? bullmqInbox({ connection: redis.url }) : sqliteInbox(path)
    const earlier = createReceiver({ secret, inbox: open(), concurrency: 0 })
    expect((await earlier.ingest(JSON.parse(signed(id).body), { source: 'test' })).outcome).toBe('accepted')
    await earlier.close()
    const inbox = `sqliteInbox(${JSON.stringify(path)})`
    const stored = code.includes('Inbox(')
      ? code.replace(/sqliteInbox\([^)]*\)/, inbox)
      : `import { sqliteInbox } from '@ackhook/sqlite'\n${code.replace(SECRET_OPTION, found => `${found}, inbox: ${inbox}`)}`
    expect(stored.includes(inbox) || code.includes('bullmqInbox')).toBe(true)
    await start({ ...rest, code: stored }, await freePort())
    const tool = createReceiver({ secret, inbox: open(), concurrency: 0 })
    stops.unshift(() => tool.close())
    await vi.waitFor(async () => expect((await tool.lookup(id)).state).toBe('handled'), 60_000)
  }, 90_000)
})

describe.each(of('fetch'))('$name', block => {
  it('exports a handler that accepts a genuine event once and refuses a forged one', async () => {
    const handler = handlerOf(await start(block, 0))
    await expectPromises(init => handler(new Request('http://127.0.0.1/webhooks', init)))
  })
})

describe.each(of('event'))('$name', block => {
  it('exports a handler of objects with a request that accepts a genuine event once and refuses a forged one', async () => {
    const { POST } = (await start(block, 0)) as { POST(event: { request: Request }): Promise<Response> }
    await expectPromises(init => POST({ request: new Request('http://127.0.0.1/webhooks', init) }))
  })
})

describe.each(of('module'))('$name', block => {
  it('runs', async () => {
    await start(block, await freePort())
  })
})

/** Imports the block with its port replaced. Keeps signal listeners away from the process, and calls them at the end. */
async function start({ doc, line, language, code }: Block, port: number): Promise<Record<string, unknown>> {
  const file = `${folder}/${doc.replaceAll('/', '+')}.L${line}.${count++}.${language === 'ts' ? 'ts' : 'mjs'}`
  writeFileSync(file, code.replaceAll('3000', String(port)))
  const { on, once } = process
  // Shuts down as on Ctrl+C, without waiting for a load balancer.
  const listeners = vi.spyOn(process, 'on').mockImplementation((event, listener) => {
    if (event === 'SIGINT') stops.push(() => endOf(listener as () => void))
    return event === 'SIGINT' || event === 'SIGTERM' ? process : on.call(process, event, listener)
  })
  const own = vi.spyOn(process, 'once').mockImplementation((event, listener) => {
    if (event !== 'SIGTERM') return once.call(process, event, listener)
    stops.push(listener as () => unknown)
    return process
  })
  try {
    return await import(/* @vite-ignore */ file)
  } finally {
    listeners.mockRestore()
    own.mockRestore()
  }
}

/** Resolves when the shutdown after a signal would end the process. */
async function endOf(onSignal: () => void): Promise<void> {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never)
  onSignal()
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(0))
  exit.mockRestore()
}

/** Returns the handler that platforms look for: `POST`, `default.fetch`, or the argument of `Bun.serve` or `Deno.serve`. */
function handlerOf(module: Record<string, unknown>): (request: Request) => Promise<Response> {
  const { POST } = module
  const entry = module['default'] as { fetch?: unknown } | undefined
  const served = (globalThis as { served?: unknown }).served
  const handler = POST ?? (entry === undefined ? served : workersFetch(entry.fetch))
  if (typeof handler !== 'function')
    throw new Error('exports neither POST nor default.fetch, and serves nothing')
  return handler as (request: Request) => Promise<Response>
}

/** Calls a handler as Workers do: secrets come with the request, and work continues after the reply. */
function workersFetch(fetch: unknown): (request: Request) => Promise<Response> {
  if (typeof fetch !== 'function') throw new Error('the default export has no fetch')
  const env = { SIGNING_SECRET: secret }
  const execution = {
    waitUntil: (work: Promise<unknown>) => stops.push(() => work),
    passThroughOnException() {},
  }
  return request => fetch(request, env, execution)
}

beforeAll(() => {
  const serve = (handler: unknown) => {
    ;(globalThis as { served?: unknown }).served = handler
    return { stop: async () => {}, shutdown: async () => {} }
  }
  vi.stubGlobal('Bun', {
    serve: (options: { routes: Record<string, { POST: unknown }> }) =>
      serve(options.routes['/webhooks']?.POST),
  })
  vi.stubGlobal('Deno', {
    env: { get: (name: string) => process.env[name] },
    serve: (_options: unknown, handler: unknown) => serve(handler),
    addSignalListener: (_signal: string, listener: () => unknown) => stops.push(listener),
  })
})

async function expectPromises(send: (init: RequestInit) => Promise<Response>): Promise<void> {
  const id = `evt_${count}`
  expect((await send(signed(id))).status).toSatisfy((status: number) => status === 202 || status === 200)
  await vi.waitFor(async () => {
    const again = await send(signed(id))
    expect([again.status, await again.json()]).toEqual([200, expect.objectContaining({ code: 'duplicate' })])
  })
  const forged = await send(signed('evt_forged', 'a-secret-someone-guessed'))
  expect([forged.status, await forged.json()]).toEqual([
    401,
    expect.objectContaining({ code: 'unauthorized' }),
  ])
}

function signed(id: string, key = secret): { method: string; headers: Record<string, string>; body: string } {
  const body = JSON.stringify({
    id,
    type: 'conversation.resolved',
    created_at: '2026-11-20T12:00:00Z',
    data: { conversation_id: 'cnv_1', channel: 'whatsapp', resolved_by: 'ai' },
  })
  const headers = { 'content-type': 'application/json', 'x-service-signature': sign(body, { secret: key }) }
  return { method: 'POST', headers, body }
}
