import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { AppProcess } from './app-process.ts'

/** Long enough for tests on a busy machine to act within the grace period. */
const GRACE = { grace: '2s', timeout: '40s' }

describe.each(['node', 'express', 'fastify', 'hono'] as const)('a shutdown of an app on %s', framework => {
  it('fails readiness first, accepts events during the grace period, and then handles all of them', async () => {
    const app = await AppProcess.start({ framework, handlerMs: 3500, shutdown: GRACE })
    expect(await app.probe('ready')).toEqual([200, 'ready'])
    expect((await app.post('evt_long')).status).toBe(202)
    app.signal('SIGTERM')
    await vi.waitFor(async () => expect(await app.probe('ready')).toEqual([503, 'draining']))
    expect(await app.probe('live')).toEqual([200, 'live'])
    const reply = await app.post('evt_in_grace')
    expect([reply.status, reply.headers.get('connection')]).toEqual([202, 'close'])
    const accepted = ['evt_long', 'evt_in_grace']
    const late = await vi.waitFor(async () => {
      const id = `evt_${accepted.length}`
      const answer = await app.post(id)
      if (answer.status === 202) accepted.push(id)
      expect(answer.status).toBe(503)
      return answer
    })
    expect(await late.json()).toMatchObject({ code: 'draining' })
    expect(late.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await app.ended).toBe(0)
    const told = app.lines.flatMap(({ handled, cleanup }) => handled ?? (cleanup ? ['cleanup'] : []))
    expect(told.toSorted()).toEqual([...accepted, 'cleanup'].toSorted())
    expect(told.at(-1)).toBe('cleanup')
  })

  it('is cut off at its timeout, logs the losses, and ends the process with 1', async () => {
    const shutdown = { grace: '0s', timeout: '2s' }
    const app = await AppProcess.start({ framework, handlerMs: 60_000, shutdown })
    expect((await app.post('evt_long')).status).toBe(202)
    await vi.waitFor(() => expect(app.has({ began: 'evt_long' })).toBe(true))
    const slow = fetch(`${app.url}/slow`).catch(() => 'cut')
    await vi.waitFor(async () => expect((await app.probe('live'))[0]).toBe(200))
    app.signal('SIGTERM')
    expect(await app.ended).toBe(1)
    expect(await slow).toBe('cut')
    const [line] = app.lines.filter(({ code }) => code === 'shutdown_incomplete')
    expect(line).toMatchObject({
      level: 'error',
      message: expect.stringContaining('1 acknowledged events are lost'),
    })
    expect(line?.message).toContain('1 connections were cut')
    expect(app.lines.at(-2)).toEqual({ cleanup: true })
  })
})

it('a drain that is cut ends the process with 1 and a warning, although a durable inbox lost nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ackhook-shutdown-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const app = await AppProcess.start({
    framework: 'node',
    handlerMs: 600_000,
    shutdown: { grace: '0s', timeout: '2s' },
    inbox: join(folder, 'inbox.db'),
  })
  expect((await app.post('evt_long')).status).toBe(202)
  await vi.waitFor(() => expect(app.has({ began: 'evt_long' })).toBe(true))
  app.signal('SIGTERM')
  expect(await app.ended).toBe(1)
  for (const code of ['drain_over', 'shutdown_incomplete'])
    expect(app.has({ code, level: 'warn' })).toBe(true)
})

it('a shutdown from a terminal does not wait for a load balancer', async () => {
  const app = await AppProcess.start({ framework: 'node', shutdown: { grace: '30s', timeout: '60s' } })
  expect((await app.post('evt_1')).status).toBe(202)
  app.signal('SIGINT')
  expect(await app.ended).toBe(0)
  expect(app.has({ handled: 'evt_1' })).toBe(true)
})

it('a second signal changes nothing', async () => {
  const app = await AppProcess.start({
    framework: 'node',
    handlerMs: 2000,
    shutdown: { grace: '0s', timeout: '40s' },
  })
  expect((await app.post('evt_long')).status).toBe(202)
  await vi.waitFor(() => expect(app.has({ began: 'evt_long' })).toBe(true))
  for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) app.signal(signal)
  expect(await app.ended).toBe(0)
  expect(app.has({ handled: 'evt_long' })).toBe(true)
})

it('a manual shutdown leaves the process and its signals alone, and reports its losses', async () => {
  const app = await AppProcess.start({
    framework: 'node',
    manual: true,
    shutdown: { ...GRACE, grace: '0s', signals: [] },
  })
  app.signal('SIGUSR2')
  await vi.waitFor(() => expect(app.has({ cleanup: true })).toBe(true))
  await vi.waitFor(() =>
    expect(app.lines.find(({ report }) => report !== undefined)?.report).toEqual({
      lost: 0,
      cut: 0,
      connections: 0,
      failed: [],
    }),
  )
  app.signal('SIGTERM')
  expect(await app.ended).toBe('SIGTERM')
})

it('an open HTTP/2 session does not delay a shutdown', async () => {
  const app = await AppProcess.start({ framework: 'http2', shutdown: { grace: '0s', timeout: '40s' } })
  const session = connect(app.url).on('error', () => {})
  await once(session, 'connect')
  const closed = once(session, 'close')
  app.signal('SIGTERM')
  expect(await app.ended).toBe(0)
  await closed
})
