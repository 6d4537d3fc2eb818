import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify, { type FastifyRequest } from 'fastify'
import { Hono } from 'hono'
import { expect, it, onTestFinished, vi } from 'vitest'
import { dashboard as fastifyDashboard } from '../src/fastify.ts'
import { dashboard } from '../src/index.ts'
import { dashboard as nodeDashboard } from '../src/node.ts'
import { dead, type Letters, withLetters } from './with-letters.ts'

/** Returns a server's address. Closes the server after the test. */
async function addressOf(server: Server): Promise<string> {
  await vi.waitFor(() => expect(server.address()).not.toBeNull())
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

const MOUNTS: Readonly<Record<string, (letters: Letters) => Promise<string>>> = {
  async 'node:http'({ receiver }) {
    const authorize = (_: Request, req: IncomingMessage) =>
      req.headers['x-user'] === 'anna' ? 'admin' : false
    return `${await addressOf(createServer(nodeDashboard({ receiver, authorize })).listen(0))}/any/where`
  },
  async 'Express behind a JSON parser'({ receiver }) {
    const app = express().use(express.json())
    app.use(
      '/ops/webhooks',
      nodeDashboard<express.Request>({
        receiver,
        authorize: (_, req) => (req.get('x-user') === 'anna' ? 'admin' : false),
      }),
    )
    return `${await addressOf(app.listen(0))}/ops/webhooks`
  },
  async Fastify({ receiver }) {
    const app = fastify()
    onTestFinished(() => app.close())
    await app.register(fastifyDashboard, {
      prefix: '/ops/webhooks',
      receiver,
      authorize: (_: Request, request: FastifyRequest) =>
        request.headers['x-user'] === 'anna' ? 'admin' : false,
    })
    return `${await app.listen({ port: 0, host: '127.0.0.1' })}/ops/webhooks`
  },
  async Hono({ receiver }) {
    const pages = dashboard<{ readonly req: { header(name: string): string | undefined } }>({
      receiver,
      authorize: (_, c) => (c.req.header('x-user') === 'anna' ? 'admin' : false),
    })
    const app = new Hono()
    for (const path of ['/ops/webhooks', '/ops/webhooks/*']) app.all(path, c => pages.fetch(c.req.raw, c))
    return `${await addressOf(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)}/ops/webhooks`
  },
}

it.each(Object.keys(MOUNTS))(
  'can be mounted in %s: page, files, reading and changing, for users whom authorize admits',
  async name => {
    const letters = withLetters()
    await dead(letters, ['evt_1'])
    const at = (await MOUNTS[name]?.(letters)) ?? ''
    const user = { 'x-user': 'anna' }
    expect((await fetch(`${at}/`)).status).toBe(403)
    const page = await fetch(at, { headers: user })
    expect(page.url).toBe(`${at}/`)
    const script = (await page.text()).match(/src="\.\/(assets\/[^"]+)"/)?.[1]
    expect((await fetch(`${at}/${script}`, { headers: user })).status).toBe(200)
    const { events } = (await (await fetch(`${at}/api/letters`, { headers: user })).json()) as {
      events: { key: string }[]
    }
    const reply = await fetch(`${at}/api/verbs/discard`, {
      method: 'POST',
      headers: { ...user, 'content-type': 'application/json', 'x-ackhook': '1' },
      body: JSON.stringify({ keys: [events[0]?.key] }),
    })
    expect(await reply.json()).toMatchObject({ changed: 1, missed: 0 })
    expect((await fetch(`${at}/assets/nothing.js`, { headers: user })).status).toBe(404)
  },
)

it('Fastify refuses a missing authorize when the plugin is registered', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  const options = { prefix: '/ops', receiver: withLetters().receiver } as never
  await expect(app.register(fastifyDashboard, options)).rejects.toThrow("Option 'authorize': is required")
})

it('Fastify refuses to give it every path of the app', async () => {
  const app = fastify()
  onTestFinished(() => app.close())
  const options = { prefix: undefined, receiver: withLetters().receiver, authorize: () => 'read' } as never
  await expect(app.register(fastifyDashboard, options)).rejects.toMatchObject({ option: 'prefix' })
})

it("the README's server admits requests from this machine, under its own host name", async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(readme) ?? []
  const quiet = code.replace(/^server\.once\('listening'.*$/m, '')
  const program = `${quiet.replace('3000', '0')}\nserver.once('listening', () => console.log(server.address().port))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    env: { ...process.env, SIGNING_SECRET: 'whsec_0123456789abcdef' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  for (const host of ['localhost', '127.0.0.1']) {
    expect((await fetch(`http://${host}:${Number(port)}/ops/webhooks/`)).status).toBe(200)
  }
  // Simulates a browser on a page whose host name resolves to this machine.
  const asked = request({ port: Number(port), path: '/ops/webhooks/', headers: { host: 'evil.test' } }).end()
  const [reply] = (await once(asked, 'response')) as [IncomingMessage]
  reply.resume()
  expect(reply.statusCode).toBe(403)
})
