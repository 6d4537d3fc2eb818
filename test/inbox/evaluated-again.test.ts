import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sign } from '@ackhook/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startRedis } from '../support/redis.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const SECRET = 'whsec_evaluated_0123456789'

/** Handlers whose first attempts fail, so that a later evaluation gets the retry. */
const HOOKS = `
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { sqliteInbox } from '@ackhook/sqlite'
import { VERSION } from './version.ts'

const write = (fields: any, message: string) => console.log(\`log \${fields.code} \${message}\`)
const options = {
  secret: '${SECRET}',
  retry: { attempts: 100, minDelay: '20ms', maxDelay: '50ms' },
  logger: { info: write, warn: write, error: write },
} as const
const receiver = createReceiver({ ...options, inbox: sqliteInbox('webhooks.db') })
receiver.on('*', (event: { id: string }) => {
  console.log(\`run \${VERSION} \${event.id}\`)
  if (event.id.includes('until-2') && VERSION === 1) throw new Error('fails')
})
export const handle = toNodeHandler(receiver)
`
const WITH_RECEIVING_ONLY = `${HOOKS}
const receiving = createReceiver({ ...options, inbox: sqliteInbox('webhooks.db'), concurrency: 0 })
await receiving.start()
await receiver.start()
`

/** An app with this build's packages as `npm install` lays them out. */
function appOf(hooks: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-evaluated-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(folder, 'src'))
  mkdirSync(join(modules, '@ackhook'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@ackhook' && !name.startsWith('.'))
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction')
  }
  for (const name of ['core', 'sqlite', 'express', 'bullmq', 'redis', 'dashboard']) {
    for (const part of ['package.json', 'dist', ...(name === 'dashboard' ? ['page'] : [])])
      cpSync(join(ROOT, 'packages', name, part), join(modules, '@ackhook', name, part), { recursive: true })
  }
  cpSync(join(import.meta.dirname, 'vite-server.mjs'), join(folder, 'server.mjs'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'src/hooks.ts'), hooks)
  writeFileSync(join(folder, 'src/version.ts'), 'export const VERSION = 1')
  return folder
}

class ViteApp {
  readonly lines: string[] = []
  readonly folder: string
  readonly #child: ChildProcess

  constructor(hooks: string, env: Readonly<Record<string, string>> = {}) {
    this.folder = appOf(hooks)
    this.#child = spawn(process.execPath, ['server.mjs'], {
      cwd: this.folder,
      env: { ...process.env, NODE_ENV: 'development', NODE_OPTIONS: '', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let rest = ''
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      this.lines.push(...parts)
    })
    onTestFinished(() => void this.#child.kill('SIGKILL'))
  }

  count(pattern: RegExp): number {
    return this.lines.filter(line => pattern.test(line)).length
  }

  async #port(): Promise<number> {
    return vi.waitFor(() => {
      const line = this.lines.find(line => line.startsWith('port '))
      if (line === undefined) throw new Error('does not listen yet')
      return Number(line.slice(5))
    })
  }

  /** Returns how many threads, timers, sockets and so on the process has. */
  async resources(): Promise<Readonly<Record<string, number>>> {
    return (await fetch(`http://127.0.0.1:${await this.#port()}/resources`)).json() as never
  }

  async post(id: string, path = '/'): Promise<number> {
    const port = await this.#port()
    const body = JSON.stringify({ id, type: 'test.event', created_at: new Date().toISOString(), data: {} })
    const headers = {
      'content-type': 'application/json',
      'x-service-signature': sign(body, { secret: SECRET }),
    }
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
    return reply.status
  }

  /** Saves a module until Vite has noticed: requests then evaluate it again. */
  async save(file: string, text: string, isSeen: () => boolean): Promise<void> {
    writeFileSync(join(this.folder, 'src', file), text)
    let tries = 0
    await vi.waitFor(async () => {
      expect(await this.post(`evt_save_${file}_${text.length}_${tries++}`)).toBe(202)
      expect(isSeen()).toBe(true)
    })
  }
}

const AGAIN = /^log module_evaluated_again /

it('the receiver of a module that Vite evaluates again takes over, and gets the retries', async () => {
  const app = new ViteApp(HOOKS)
  expect(await app.post('evt_until-2_a')).toBe(202)
  await vi.waitFor(() => expect(app.count(/^run 1 evt_until-2_a/)).toBeGreaterThan(1))
  await app.save('version.ts', 'export const VERSION = 2', () => app.count(/^run 2 /) > 0)
  await vi.waitFor(() => expect(app.count(/^run 2 evt_until-2_a/)).toBe(1))
  expect(app.lines.filter(line => AGAIN.test(line))).toEqual([
    expect.stringMatching(
      /src\/hooks\.ts was evaluated again, .+webhooks\.db\. It takes over from the one started \d+ s ago, which drains\.$/,
    ),
  ])
  // An edit of the module itself, which moves every line.
  await app.save(
    'hooks.ts',
    `\n\n// edited\n${HOOKS.replaceAll('run ', 'run edited ')}`,
    () => app.count(/^run edited 2/) > 0,
  )
  expect(app.count(AGAIN)).toBe(2)
  // The events that waited then are not from an earlier run.
  expect(app.lines.filter(line => line.startsWith('log inbox_resumed'))).toEqual([])
  const before = app.lines.length
  for (let i = 0; i < 20; i++) expect(await app.post(`evt_after_${i}`)).toBe(202)
  await vi.waitFor(() => expect(app.count(/^run edited 2 evt_after/)).toBe(20))
  // A route that was not evaluated again still has the first receiver.
  expect(await app.post('evt_through_oldest', '/oldest')).toBe(202)
  await vi.waitFor(() => expect(app.count(/^run edited 2 evt_through_oldest/)).toBe(1))
  expect(app.lines.slice(before).filter(line => /^run [12] /.test(line))).toEqual([])
})

it('in production, a module that is evaluated again costs one warning, and both receivers run', async () => {
  const app = new ViteApp(HOOKS, { NODE_ENV: 'production' })
  // The first may come before the inbox has started: a 503, which a platform repeats.
  await vi.waitFor(async () => expect(await app.post('evt_first')).toBe(202))
  await app.save('version.ts', 'export const VERSION = 2', () => app.count(/^run 2 /) > 0)
  expect(await app.post('evt_old', '/oldest')).toBe(202)
  await vi.waitFor(() => expect(app.count(/^run . evt_old/)).toBe(1))
  expect(app.lines.filter(line => AGAIN.test(line))).toEqual([expect.stringContaining('Both run')])
})

it('two receivers of one module on one file stay side by side, and each is replaced by its own', async () => {
  const app = new ViteApp(WITH_RECEIVING_ONLY)
  expect(await app.post('evt_first')).toBe(202)
  await vi.waitFor(() => expect(app.count(/^run 1 evt_first/)).toBe(1))
  expect(app.count(AGAIN)).toBe(0)
  await app.save('version.ts', 'export const VERSION = 2', () => app.count(/^run 2 /) > 0)
  expect(app.count(AGAIN)).toBe(2)
})

/** Receivers made in several ways, in the order of their files' names. Its packages suspend its evaluation. */
const MANY = `
import { createReceiver } from '@ackhook/core'
import { webhooks } from '@ackhook/express'
import { sqliteInbox } from '@ackhook/sqlite'

const write = ({ code }, message) => code === 'module_evaluated_again' && console.log(message.match(/\\w+(?=\\.db)/)[0])
const on = file => ({ secret: '${SECRET}', inbox: sqliteInbox(file), logger: { info: write, warn: write, error: write } })
const make = () => createReceiver(on('a-function.db'))
export const all = [make(), make(), ...[1, 2].map(() => createReceiver(on('b-callback.db')))]
for (const _ of [1, 2]) all.push(createReceiver(on('c-loop.db')))
all.push(createReceiver(on('d-both.db')), webhooks(on('d-both.db')))
for (const receiver of all) await receiver.on('*', () => {}).start()
`

it('only receivers that the top level of a module creates are replaced, each by its own', () => {
  const folder = appOf('')
  writeFileSync(join(folder, 'many.mjs'), MANY)
  const main = `
    const first = await import('./many.mjs?1')
    console.log('again:')
    const second = await import('./many.mjs?2')
    await Promise.all([...first.all, ...second.all].map(receiver => receiver.close()))`
  writeFileSync(join(folder, 'main.mjs'), main)
  const env = { ...process.env, NODE_ENV: '', NODE_OPTIONS: '' }
  const out = execFileSync(process.execPath, ['main.mjs'], { cwd: folder, env, encoding: 'utf8' })
  expect(out.trim().split('\n')).toEqual(['again:', 'loop', 'loop', 'both', 'both'])
})

/** A module that a bundler has put into two bundles, as Next.js does with what instrumentation.js and a route import. */
const TWICE = `
import { createReceiver } from '@ackhook/core'
import { sqliteInbox } from '@ackhook/sqlite'
import { sign } from '@ackhook/testing'

const write = ({ code }, message) => code === 'module_evaluated_again' && console.log(message)
const receiver = createReceiver({ secret: '${SECRET}', inbox: sqliteInbox('webhooks.db'), logger: { info: write, warn: write, error: write } })
export const ran = []
receiver.on('test.*', event => void ran.push(event.id))
export const start = () => receiver.start()
export const close = () => receiver.close()
export const send = id => {
  const body = JSON.stringify({ id, type: 'test.event', created_at: new Date().toISOString(), data: {} })
  const headers = { 'x-service-signature': sign(body, { secret: '${SECRET}' }) }
  return receiver.handle({ method: 'POST', headers, body: new TextEncoder().encode(body), context: undefined })
}
`
const BOTH = `
const a = await import('./.next/a.mjs')
await a.start()
const b = await import('./.next/b.mjs')
await b.start()
for (let i = 0; i < 10; i++) await a.send('evt_' + i)
while (a.ran.length + b.ran.length < 10) await new Promise(resolve => setTimeout(resolve, 10))
console.log('old code ran: ' + (a.ran.length > 0))
await Promise.all([a.close(), b.close()])`

it.each([
  [
    'in development, the later takes over',
    'development',
    TWICE,
    [/a\.mjs and .+b\.mjs have each .+ It takes over/, /^old code ran: false$/],
  ],
  [
    'in production, that costs a line with the fix',
    'production',
    TWICE,
    [/a\.mjs and .+b\.mjs have each .+ Both run.+globalThis/, /^old code ran: /],
  ],
  [
    'not with another namespace',
    'development',
    TWICE.replace('inbox:', "namespace: 'b', inbox:"),
    [/^old code ran: true$/],
  ],
  ['nor with other types', 'development', TWICE.replace('test.*', 'test.event'), [/^old code ran: /]],
])('one module in two bundles makes two receivers: %s', (_, mode, second, lines) => {
  const folder = appOf('')
  cpSync(join(ROOT, 'packages/testing'), join(folder, 'node_modules/@ackhook/testing'), {
    recursive: true,
    filter: path => !path.includes('node_modules/.'),
  })
  mkdirSync(join(folder, '.next'))
  writeFileSync(join(folder, '.next/a.mjs'), TWICE)
  writeFileSync(join(folder, '.next/b.mjs'), `\n${second}`)
  writeFileSync(join(folder, 'main.mjs'), BOTH)
  const env = { ...process.env, NODE_ENV: mode, NODE_OPTIONS: '' }
  const out = execFileSync(process.execPath, ['main.mjs'], { cwd: folder, env, encoding: 'utf8' })
  expect(out.trim().split('\n')).toEqual(lines.map(line => expect.stringMatching(line)))
})

/** Inboxes and stores, with what hangs on their receiver. */
const LEFT_BEHIND: Readonly<Record<string, string>> = {
  'sqliteInbox and a dashboard': `
import { dashboard } from '@ackhook/dashboard/node'
import { sqliteInbox } from '@ackhook/sqlite'
const options = { inbox: sqliteInbox('webhooks.db') }
const attach = (receiver: any) => dashboard({ receiver, authorize: () => 'admin', allowedHosts: [] })`,
  bullmqInbox: `
import { bullmqInbox } from '@ackhook/bullmq'
const options = { inbox: bullmqInbox({ connection: process.env['REDIS_URL']! }) }
const attach = (receiver: any) => {}`,
  'the memory inbox, with a redisStore on a client that is kept': `
import { redisStore } from '@ackhook/redis'
import { Redis } from 'ioredis'
const kept = globalThis as { redis?: Redis }
kept.redis ??= new Redis(process.env['REDIS_URL']!)
const options = { store: redisStore(kept.redis) }
const attach = (receiver: any) => {}`,
}

it.each(Object.keys(LEFT_BEHIND))('five edits leave no more threads, sockets and timers: %s', async name => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const app = new ViteApp(
    `
import { createReceiver } from '@ackhook/core'
import { toNodeHandler } from '@ackhook/core/node'
import { VERSION } from './version.ts'
${LEFT_BEHIND[name]}
const quiet = { info() {}, warn() {}, error() {} }
const receiver = createReceiver({ secret: '${SECRET}', logger: quiet, ...options })
receiver.on('*', event => console.log(\`run \${VERSION} \${event.id}\`))
attach(receiver)
export const handle = toNodeHandler(receiver)
`,
    { REDIS_URL: redis.url },
  )
  const edit = (version: number) =>
    app.save(
      'version.ts',
      `export const VERSION = ${version}`,
      () => app.count(new RegExp(`^run ${version} `)) > 0,
    )
  await edit(10)
  const before = await app.resources()
  for (let version = 11; version <= 15; version++) await edit(version)
  // The last of the earlier receivers may still drain.
  await vi.waitFor(async () => {
    for (const [kind, count] of Object.entries(await app.resources()))
      expect(count, kind).toBeLessThanOrEqual(before[kind] ?? 0)
  })
})

it('events in memory are handled by the earlier code, with their retries', async () => {
  const app = new ViteApp(
    HOOKS.replace("inbox: sqliteInbox('webhooks.db')", '')
      .replace('fails', 'done later')
      .replace(
        "if (event.id.includes('until-2') && VERSION === 1)",
        "if (event.id.includes('until-2') && ++attempts < 40)",
      )
      .replace('const receiver', 'let attempts = 0\nconst receiver'),
  )
  expect(await app.post('evt_until-2_a')).toBe(202)
  await app.save('version.ts', 'export const VERSION = 2', () => app.count(/^run 2 /) > 0)
  await vi.waitFor(() => expect(app.count(/^run 1 evt_until-2_a/)).toBe(40))
})
