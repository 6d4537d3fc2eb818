import { expect, it, vi } from 'vitest'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { createReceiver } from '../receiver/create-receiver.ts'
import { inspectReceiver } from '../receiver/inspect.ts'
import { health } from './health.ts'

const secret = 'whsec_health_0123456789abcdef'
const quiet = { info() {}, warn() {}, error() {} }

function receiverOn(change: Partial<Inbox> = {}) {
  return createReceiver({ secret, logger: quiet, inbox: { ...memoryInbox(), ...change } })
}

async function ask(probe: ReturnType<typeof health>, path: string): Promise<readonly [number, unknown]> {
  const reply = await probe({ url: `http://localhost/health/${path}` })
  return [reply.status, ((await reply.json()) as { status: unknown }).status]
}

it('is ready once the inbox has started, which a probe triggers', async () => {
  const start = vi.fn()
  const probe = health(receiverOn({ start }))
  expect(await ask(probe, 'ready')).toEqual([200, 'ready'])
  expect(start).toHaveBeenCalledTimes(1)
})

it('is not ready, and starts nothing, while stored events may wait for a start that nobody has called', async () => {
  const start = vi.fn()
  const stored = { start, statsBeforeStart: () => memoryInbox().stats() }
  const receiver = receiverOn(stored)
  const probe = health(receiver)
  expect(await ask(probe, 'ready')).toEqual([503, 'never_started'])
  expect(await ask(probe, 'live')).toEqual([200, 'live'])
  expect(start).not.toHaveBeenCalled()
  await receiver.start()
  expect(await ask(probe, 'ready')).toEqual([200, 'ready'])
  const receivesOnly = createReceiver({
    secret,
    logger: quiet,
    concurrency: 0,
    inbox: { ...memoryInbox(), ...stored, durable: true },
  })
  expect(await ask(health(receivesOnly), 'ready')).toEqual([200, 'ready'])
})

it('is starting as long as the inbox is', async () => {
  const probe = health(receiverOn({ start: () => new Promise(() => {}) }))
  expect(await ask(probe, 'ready')).toEqual([503, 'starting'])
  expect(await ask(probe, 'live')).toEqual([200, 'live'])
})

it('is not ready while the inbox cannot start or does not respond, but is alive throughout', async () => {
  const broken = async () => Promise.reject(new Error('no connection'))
  for (const change of [{ start: broken }, { stats: broken }]) {
    const probe = health(receiverOn(change))
    expect(await ask(probe, 'ready')).toEqual([503, 'inbox_unavailable'])
    expect(await ask(probe, 'live/?verbose=1')).toEqual([200, 'live'])
  }
})

it('is ready again once the inbox responds', async () => {
  let isDown = true
  const inner = memoryInbox()
  const stats = () => (isDown ? Promise.reject(new Error('no connection')) : inner.stats())
  const probe = health(createReceiver({ secret, logger: quiet, inbox: { ...inner, stats } }))
  expect(await ask(probe, 'ready')).toEqual([503, 'inbox_unavailable'])
  isDown = false
  await vi.waitFor(async () => expect(await ask(probe, 'ready')).toEqual([200, 'ready']))
})

it('queries the inbox once for probes that arrive together', async () => {
  const stats = vi.fn(memoryInbox().stats)
  const probe = health(receiverOn({ stats }))
  await Promise.all(Array.from({ length: 50 }, () => ask(probe, 'ready')))
  expect(stats).toHaveBeenCalledTimes(1)
})

it('is draining from the start of a shutdown, and after close()', async () => {
  const [leaving, closed] = [receiverOn(), receiverOn()]
  const probes = [health(leaving), health(closed)] as const
  for (const probe of probes) expect(await ask(probe, 'ready')).toEqual([200, 'ready'])
  inspectReceiver(leaving).beginStop()
  void closed.close()
  for (const probe of probes) expect(await ask(probe, 'ready')).toEqual([503, 'draining'])
})

it('names its two paths at any other, and asks the inbox nothing', async () => {
  const start = vi.fn()
  const probe = health(receiverOn({ start }))
  for (const path of ['liveness', 'readiness', 'anything', '', 'live/x', 'LIVE', '?probe=/live', '#/ready']) {
    const reply = await probe({ url: `http://localhost/health/${path}` })
    expect([path, reply.status]).toEqual([path, 404])
    expect(await reply.json()).toEqual({
      status: 'not_found',
      message: expect.stringMatching(/\/ready, .*\/live\./),
    })
  }
  expect(start).not.toHaveBeenCalled()
})

it('finds its path below any mount, with a slash and a query behind it', async () => {
  const probe = health(receiverOn())
  for (const url of ['/ready', 'ready', '/ops/v1/ready/', 'http://localhost/ready?a=/b', '/ready#x'])
    expect([url, (await probe({ url })).status]).toEqual([url, 200])
})

it('is never cached by a proxy', async () => {
  const reply = await health(receiverOn())({ url: '/health/ready' })
  expect(Object.fromEntries(reply.headers)).toEqual({
    'cache-control': 'no-store',
    'content-type': 'application/json',
  })
})

it('refuses an argument that is not a receiver', () => {
  expect(() => health({} as never)).toThrow(/Option 'receiver'/)
})
