import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReceiver } from '@ackhook/core'
import type { DashboardOptions } from '@ackhook/dashboard'
import { dashboard } from '@ackhook/dashboard/node'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { requireProgram } from '../support/require-program.ts'
import { SECRET } from './behavior.ts'

const README = new URL('../../packages/dashboard/README.md', import.meta.url)
/** The location from the README. */
const DOCUMENTED = /```nginx\n(location [\s\S]+?\n\})\n```/.exec(readFileSync(README, 'utf8'))![1]!
const WITHOUT_HOST = DOCUMENTED.replace(/\n.*proxy_set_header Host .*/, '')
const WITH_FORWARDED_HOST = DOCUMENTED.replace('proxy_set_header Host ', 'proxy_set_header X-Forwarded-Host ')

/** Starts nginx with one location, and returns its origin for a browser. */
async function startNginx(location: string, dashboardPort: number): Promise<string> {
  const program = requireProgram('nginx')
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-nginx-'))
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const config = `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr crit;
events {}
http {
  access_log off;
  ${temporary.map(name => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    ${location.replace('127.0.0.1:3000', `127.0.0.1:${dashboardPort}`)}
  }
}
`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const nginx = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  onTestFinished(async () => {
    await end(nginx)
    rmSync(folder, { recursive: true })
  })
  const origin = `http://127.0.0.1:${port}`
  await vi.waitFor(() => fetch(origin), { timeout: 20_000, interval: 50 })
  return origin
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

interface Warning {
  readonly code?: string
  readonly expected?: string
  readonly sent?: string
}

/** Starts a dashboard behind nginx, and returns the page's origin and the app's warnings. */
async function behindNginx(location: string, options: Partial<DashboardOptions> = {}) {
  const warned: Warning[] = []
  const logger = { info() {}, warn: (fields: object) => void warned.push(fields), error() {} }
  const receiver = createReceiver({ secret: SECRET, logger })
  const pages = dashboard({ receiver, authorize: () => 'admin', ...options })
  const server = createServer(pages).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { origin: await startNginx(location, port), inner: `127.0.0.1:${port}`, warned }
}

/** Posts as the page does over plain HTTP, where a browser sends only the origin. */
async function discard(page: string, origin = page): Promise<number> {
  const reply = await fetch(`${page}/ops/webhooks/api/verbs/discard`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', 'x-ackhook': '1' },
    body: JSON.stringify({ all: true, dryRun: true }),
  })
  await reply.arrayBuffer()
  return reply.status
}

describe('the dashboard behind nginx', () => {
  it('works with the location from the README', async () => {
    const { origin, warned } = await behindNginx(DOCUMENTED)
    expect((await fetch(`${origin}/ops/webhooks`)).status).toBe(200)
    expect(await discard(origin)).toBe(200)
    expect(warned).toEqual([])
  })

  it('refuses a call if nginx replaces the host, and logs the expected host', async () => {
    const { origin, inner, warned } = await behindNginx(WITHOUT_HOST)
    expect((await fetch(`${origin}/ops/webhooks`)).status).toBe(200)
    expect(await discard(origin)).toBe(403)
    const sent = new URL(origin).host
    expect(warned).toMatchObject([{ code: 'foreign_request', expected: inner, sent }])
  })

  it("works with X-Forwarded-Host and trustProxy, and still refuses another site's page", async () => {
    const { origin, warned } = await behindNginx(WITH_FORWARDED_HOST, { trustProxy: true })
    expect(await discard(origin)).toBe(200)
    expect(warned).toEqual([])
    expect(await discard(origin, 'http://evil.test')).toBe(403)
    const expected = new URL(origin).host
    expect(warned).toMatchObject([{ code: 'foreign_request', expected, sent: 'evil.test' }])
  })

  it('ignores X-Forwarded-Host without trustProxy', async () => {
    const { origin, warned } = await behindNginx(WITH_FORWARDED_HOST)
    expect(await discard(origin)).toBe(403)
    expect(warned).toHaveLength(1)
  })
})
