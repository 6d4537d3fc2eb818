import { sign } from '@ackhook/testing'
import { describe, expect, test, vi } from 'vitest'
import { startEmulator } from '../src/index.ts'
import { answering, SECRET, start } from './set-up.ts'

const signatures = (header: unknown) => String(header).match(/v1=/g)?.length

describe('the secret', () => {
  test('can be rotated with an overlap during which both sign', async () => {
    const receiver = await answering()
    const { emulator, clock } = await start({ to: receiver.url })
    const { secret } = await emulator.api.endpoints.rotateSecret({ overlap: '1h' })
    await emulator.api.send('call.started')
    await emulator.wait()
    const [first] = receiver.got
    const timestamp = Math.floor(clock() / 1000)
    expect(first?.headers['x-service-signature']).toBe(
      sign(first?.body ?? '', { secret: [secret ?? '', SECRET], timestamp }),
    )
    expect((await emulator.api.endpoints.get()).previousSecretUntil).toBe('2026-03-01T13:00:00.000Z')
    await emulator.api.clock.advance('1h')
    expect((await emulator.api.endpoints.get()).previousSecretUntil).toBeNull()
    await emulator.api.send('call.started')
    await emulator.wait()
    expect(signatures(receiver.got[1]?.headers['x-service-signature'])).toBe(1)
  })

  test('can be given, and is then not returned; without an overlap, the old one ends immediately', async () => {
    const receiver = await answering()
    const { emulator } = await start({ to: receiver.url })
    const next = 'whsec_next_0123456789abcdef'
    const result = await emulator.api.endpoints.rotateSecret({ secret: next, overlap: '0s' })
    expect(result.secret).toBeNull()
    await emulator.api.send('call.started')
    await emulator.wait()
    expect(signatures(receiver.got[0]?.headers['x-service-signature'])).toBe(1)
    await expect(emulator.api.endpoints.put({ secret: 'with space' })).rejects.toMatchObject({
      field: 'secret',
    })
  })
})

test('only subscribed categories and types are sent; other events are skipped with the reason', async () => {
  const receiver = await answering()
  const { emulator } = await start({ to: receiver.url })
  await emulator.api.endpoints.put({
    categories: ['call', 'contact'],
    types: ['call.started', 'contact.created'],
  })
  await emulator.api.sendAll([
    { type: 'call.started' },
    { type: 'call.missed' },
    { type: 'conversation.resolved' },
  ])
  await emulator.wait()
  expect(receiver.got.map(one => one.event.type)).toEqual(['call.started'])
  const { deliveries } = await emulator.api.deliveries.list({ state: 'skipped' })
  expect(deliveries.map(one => one.reason)).toEqual([
    'the endpoint has not subscribed to conversation events',
    "the endpoint's types do not include call.missed",
  ])
  await emulator.api.endpoints.put({ categories: null, types: null })
  await emulator.api.send('call.missed')
  await emulator.wait()
  expect(receiver.got).toHaveLength(2)
})

test('without an endpoint, events are skipped, and a replay uses an endpoint set later', async () => {
  const receiver = await answering()
  const { emulator } = await start()
  const { deliveries } = await emulator.api.send('call.started')
  expect(deliveries[0]).toMatchObject({ state: 'skipped', reason: 'the workspace default has no endpoint' })
  await emulator.api.endpoints.put({ url: receiver.url })
  await emulator.api.deliveries.replay(deliveries[0]?.id ?? '')
  await emulator.wait()
  expect(receiver.got).toHaveLength(1)
})

test('a paused endpoint gets nothing, and gets all events once it is resumed', async () => {
  const receiver = await answering()
  const { emulator } = await start({ to: receiver.url })
  await emulator.api.endpoints.pause()
  await emulator.api.sendAll([{ type: 'call.started' }, { type: 'call.missed' }])
  await emulator.api.clock.advance('1d')
  expect(receiver.got).toHaveLength(0)
  await emulator.api.endpoints.resume()
  await emulator.wait({ state: 'acknowledged', count: 2 })
})

test('pending deliveries become undelivered when the endpoint is removed', async () => {
  const receiver = await answering([500])
  const { emulator } = await start({ to: receiver.url })
  await emulator.api.send('call.started')
  await emulator.wait({ status: 500 })
  await emulator.api.endpoints.remove()
  expect((await emulator.api.deliveries.list()).deliveries[0]).toMatchObject({
    state: 'undelivered',
    reason: 'the endpoint was removed',
  })
})

describe('health', () => {
  test('warns with the reason if too many attempts fail, and clears when enough are acknowledged', async () => {
    const receiver = await answering()
    receiver.otherwise = 500
    const { emulator } = await start({
      to: receiver.url,
      health: { minAttempts: 4, share: 0.5 },
      delivery: { attempts: 1 },
    })
    const fail = async (count: number) => {
      await emulator.api.sendAll(Array.from({ length: count }, () => ({ type: 'call.started' })))
      await emulator.wait()
    }
    const health = async () => (await emulator.api.endpoints.get()).health
    await fail(3)
    expect(await health()).toEqual({ status: 'healthy', reason: null, attempts: 3, failures: 3 })
    await fail(1)
    expect(await health()).toMatchObject({
      status: 'warning',
      reason: '4 of 4 attempts failed within 10 minutes; the last with 500 code_500',
    })
    // Silence clears nothing.
    await emulator.api.clock.advance('1h')
    expect(await health()).toMatchObject({ status: 'warning', attempts: 0 })
    expect((await emulator.api.health()).warnings).toHaveLength(1)
    receiver.otherwise = 202
    await fail(1)
    expect(await health()).toEqual({ status: 'healthy', reason: null, attempts: 1, failures: 0 })
    expect((await emulator.api.health()).warnings).toEqual([])
  })

  test("is logged without a reply's control characters", async () => {
    const receiver = await answering([], response =>
      response.writeHead(500).end(JSON.stringify({ code: 'no\u001b[2J\u202e\nhealthy' })),
    )
    const warn = vi.fn<(fields: object, message: string) => void>()
    const { emulator } = await start({
      to: receiver.url,
      health: { minAttempts: 1 },
      delivery: { attempts: 1 },
      logger: { info() {}, warn, error() {} },
    })
    await emulator.api.send('call.started')
    await emulator.wait()
    const reason =
      '1 of 1 attempts failed within 10 minutes; the last with 500 no\\u001b[2J\\u202e\\u000ahealthy'
    expect(warn.mock.calls).toEqual([
      [expect.objectContaining({ reason }), `the endpoint of default is not healthy: ${reason}`],
    ])
  })

  test('an error quotes an id without its control characters', async () => {
    const { emulator } = await start()
    await expect(emulator.api.deliveries.get('dlv_\u001b[2J\u202e')).rejects.toThrow(
      /^there is no delivery dlv_\\u001b\[2J\\u202e$/,
    )
  })

  test('needs more successes than failures to clear while the failures are recent', async () => {
    const receiver = await answering(Array(5).fill(500))
    const { emulator } = await start({ to: receiver.url, delivery: { attempts: 1 } })
    const send = async (count: number) => {
      await emulator.api.sendAll(Array.from({ length: count }, () => ({ type: 'call.started' })))
      await emulator.wait()
      return (await emulator.api.endpoints.get()).health.status
    }
    expect(await send(5)).toBe('warning')
    expect(await send(5)).toBe('warning')
    expect(await send(1)).toBe('healthy')
  })
})

test('health names a workspace without an endpoint, and an endpoint that acknowledges nothing', async () => {
  const receiver = await answering()
  receiver.otherwise = 401
  const { emulator } = await start({ to: receiver.url, delivery: { attempts: 1 } })
  const warnings = async () => (await emulator.api.health()).warnings
  await emulator.api.workspaces.create('other')
  expect(await warnings()).toEqual([])
  await emulator.api.send('a.b', {}, { workspace: 'other' })
  expect(await warnings()).toEqual(['other: events were skipped, because the workspace has no endpoint'])
  await emulator.api.send('a.b')
  await emulator.wait()
  expect(await warnings()).toContain('default: the last attempt was not acknowledged')
})

test("the default workspace's endpoint gets the initial secret, even if it is set later or after a reset", async () => {
  const receiver = await answering()
  const { emulator } = await start()
  for (const _ of [1, 2]) {
    expect(await emulator.api.endpoints.put({ url: receiver.url })).toMatchObject({
      secret: null,
      endpoint: { secret: `••••${SECRET.slice(-4)}` },
    })
    await emulator.reset({ everything: true })
  }
  await emulator.api.workspaces.create('two')
  const { secret } = await emulator.api.endpoints.put({ url: 'http://localhost:1/' }, 'two')
  expect(secret).toMatch(/^whsec_/)
})

test.each(['', ' '.repeat(16), 'short'])(
  'the secret %j, which no receiver accepts, is refused',
  async secret => {
    await expect(startEmulator({ port: 0, secret })).rejects.toMatchObject({ option: 'secret' })
    const { emulator } = await start({ to: 'http://localhost:1/' })
    await expect(emulator.api.endpoints.put({ secret })).rejects.toMatchObject({ field: 'secret' })
    await expect(emulator.api.endpoints.rotateSecret({ secret })).rejects.toMatchObject({ field: 'secret' })
  },
)
