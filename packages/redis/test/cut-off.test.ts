import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createReceiver, memoryInbox, type Observation, type ReceiverOptions } from '@ackhook/core'
import { redisStore } from '@ackhook/redis'
import { createEvent, signedRequest } from '@ackhook/testing'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startHoldingProxy } from '../../../test/support/holding-proxy.ts'
import { inFull } from '../../../test/support/in-full.ts'
import { type RedisServer, startRedis } from '../../../test/support/redis.ts'
import { until } from '../../../test/support/until.ts'

const secret = 'a-secret-of-at-least-16-bytes'
const LEASE_MS = inFull(6000, 2000)

let server: RedisServer
const cleanups: (() => unknown)[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const cleanup of cleanups.splice(0)) await cleanup()
})
afterAll(() => server.stop())

/** A process of its own, by its connection. Its handlers run until they are released, or their signal aborts. */
function processAt(url: string, options: Partial<ReceiverOptions> = {}) {
  const client = new Redis(url)
  client.on('error', () => {})
  const seen: Observation[] = []
  const begun: string[] = []
  const ended: string[] = []
  let release = (): void => {}
  const released = new Promise<void>(resolve => (release = resolve))
  const hooks = createReceiver({
    secret,
    inbox: memoryInbox({ store: redisStore(client), lease: `${LEASE_MS}ms` }),
    logger: { info() {}, warn() {}, error() {} },
    observe: one => void seen.push(one),
    ...(options as object),
  })
  hooks.on('*', async ({ id }, { signal }) => {
    begun.push(id)
    await Promise.race([released, once(signal, 'abort')])
    ended.push(id)
  })
  cleanups.push(async () => {
    release()
    await hooks.close({ timeout: '1s' })
    client.disconnect()
  })
  const send = async (event: object): Promise<number> =>
    (await hooks.handle(signedRequest(event as never, { secret }))).status
  const count = (kind: string): number => seen.filter(one => one.kind === kind).length
  return { begun, ended, release, send, count, hooks }
}

/** Waits until `other` has run the event, and checks that it began only once `one` had ended. */
async function passesOn(
  event: object,
  one: { readonly ended: readonly string[] },
  other: ReturnType<typeof processAt>,
) {
  const early: string[] = []
  const watching = setInterval(() => {
    if (other.begun.length > 0 && one.ended.length === 0) early.push('both run')
  }, 1)
  other.release()
  await until('the other one has run it', async () => (await other.send(event)) === 200)
  clearInterval(watching)
  expect(early).toEqual([])
  expect(other.begun).toHaveLength(1)
}

describe("a process that is cut off from Redis, with acknowledge: 'after-processing'", () => {
  const acknowledge = 'after-processing'

  it('withdraws its attempt before another one begins, and runs nothing once it is back', async () => {
    const proxy = await startHoldingProxy(server.port)
    cleanups.push(() => proxy.stop())
    const [one, other] = [
      processAt(`redis://127.0.0.1:${proxy.port}`, { acknowledge }),
      processAt(server.url, { acknowledge }),
    ]
    const event = createEvent('conversation.resolved')
    const first = one.send(event)
    await until('it runs', () => one.begun.length === 1)
    const startedAt = performance.now()
    proxy.holdAfter(0)
    await passesOn(event, one, other)
    expect(await first).toBe(503)
    expect([one.count('lease_lost'), one.count('completed'), other.count('completed')]).toEqual([1, 0, 1])
    await until('three leases are over', () => performance.now() - startedAt > 3 * LEASE_MS)
    proxy.release()
    expect(one.begun).toHaveLength(1)
  })

  it('also if its wall clock jumps, whose jump alone ends nothing', async () => {
    const [one, other] = [processAt(server.url, { acknowledge }), processAt(server.url, { acknowledge })]
    const event = createEvent('conversation.resolved')
    const first = one.send(event)
    await until('it runs', () => one.begun.length === 1)
    const now = Date.now.bind(Date)
    for (const jumpMs of [3 * LEASE_MS, -3_600_000]) {
      vi.spyOn(Date, 'now').mockImplementation(() => now() + jumpMs)
      const jumpedAt = performance.now()
      await until('a lease is over', () => performance.now() - jumpedAt > LEASE_MS)
      vi.restoreAllMocks()
      expect(await other.send(event)).toBe(503)
    }
    one.release()
    expect(await first).toBe(200)
    expect([one.begun, other.begun]).toEqual([[event.id], []])
  })

  it('begins nothing under a claim whose reply was as slow as a lease', async () => {
    const proxy = await startHoldingProxy(server.port)
    cleanups.push(() => proxy.stop())
    const one = processAt(`redis://127.0.0.1:${proxy.port}`, { acknowledge })
    const other = processAt(server.url, { acknowledge })
    await one.hooks.start()
    const event = createEvent('conversation.resolved')
    proxy.holdAfter(0)
    const first = one.send(event)
    await until('the claim is on its way', () => proxy.holding)
    other.release()
    expect(await other.send(event)).toBe(200)
    expect(await first).toBe(503)
    proxy.release()
    expect(one.begun).toEqual([])
  })
})

it('five hundred acknowledged events outlast a Redis that hangs for five leases: none is lost', async () => {
  const one = processAt(server.url, { concurrency: 50 })
  const events = Array.from({ length: 500 }, () => createEvent('conversation.resolved'))
  for (const event of events) expect(await one.send(event)).toBe(202)
  await until('they run', () => one.begun.length === 50)
  server.pause()
  const pausedAt = performance.now()
  try {
    await until('five leases are over', () => performance.now() - pausedAt > 5 * LEASE_MS)
    expect(one.count('lease_lost')).toBe(50)
    expect(one.begun).toHaveLength(50)
  } finally {
    server.resume()
  }
  one.release()
  await until('all are handled', () => one.count('completed') === 500)
  expect(new Set(one.begun).size).toBe(500)
  expect(await one.hooks.close({ timeout: '5s' })).toMatchObject({ lost: 0 })
}, 120_000)

it('a process that is stopped while its handler runs withdraws its attempt once it goes on', async () => {
  const { child, lines } = startChild()
  await until('it runs', () => lines.includes('begun'))
  const event = { ...createEvent('conversation.resolved'), id: 'evt_stopped' }
  const other = processAt(server.url, { acknowledge: 'after-processing' })
  child.kill('SIGSTOP')
  const second = until('the other one begins', async () => {
    void other.send(event).catch(() => {})
    return other.begun.length > 0
  })
  await second
  child.kill('SIGCONT')
  await until('it is withdrawn', () => lines.includes('aborted lease_lost'))
  expect(other.ended).toEqual([])
  other.release()
  await until('the other one has handled it', () => other.count('completed') === 1)
  expect(lines).not.toContain('completed')
}, 60_000)

/** Starts a process that runs `evt_stopped`. */
function startChild(): { readonly child: ChildProcess; readonly lines: string[] } {
  const path = new URL('fixtures/stopped-child.mjs', import.meta.url).pathname
  const child = spawn(process.execPath, [path, server.url, String(LEASE_MS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  cleanups.push(() => child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface({ input: child.stdout! }).on('line', line => lines.push(line))
  return { child, lines }
}
