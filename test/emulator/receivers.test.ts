import type { AddressInfo } from 'node:net'
import type { ReceiverOptions } from '@ackhook/core'
import type { Emulator, EmulatorFaults, EmulatorOptions } from '@ackhook/emulator'
import { webhooks } from '@ackhook/express'
import { type FakeClock, fakeClock, sign } from '@ackhook/testing'
import express, { type Express } from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { startPatientEmulator } from '../support/patient-emulator.ts'

const SECRET = 'whsec_test_0123456789abcdef'
const EVENTS = 60

const leftovers: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of leftovers.splice(0).reverse()) await stop()
})

async function listen(app: Express): Promise<string> {
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  leftovers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`
}

interface Setting {
  readonly emulator: Emulator
  readonly clock: FakeClock
  /** Ids in handling order. */
  readonly handled: string[]
  readonly codes: string[]
}

async function emulatorFor(to: string, clock: FakeClock, options: EmulatorOptions): Promise<Emulator> {
  const emulator = await startPatientEmulator({ port: 0, seed: 11, clock, secret: SECRET, to, ...options })
  leftovers.push(() => emulator.close())
  return emulator
}

/** Starts a real Express app with Ackhook, behind the emulator. */
async function withAckhook(
  faults: EmulatorFaults,
  receiving: Partial<ReceiverOptions> = {},
  options: EmulatorOptions = {},
): Promise<Setting> {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const handled: string[] = []
  const codes: string[] = []
  const hooks = webhooks({
    secret: SECRET,
    clock,
    logger: { info() {}, warn() {}, error() {} },
    observe: observation => 'code' in observation && codes.push(observation.code),
    ...(receiving as object),
  })
  hooks.on('*', event => {
    handled.push(event.id)
  })
  const app = express()
  app.post('/webhooks', hooks)
  const url = await listen(app)
  leftovers.push(() => hooks.close({ timeout: '1s' }))
  return { emulator: await emulatorFor(url, clock, { faults, ...options }), clock, handled, codes }
}

async function sendAll({ emulator }: Pick<Setting, 'emulator'>): Promise<readonly string[]> {
  const sent = await emulator.api.sendAll(
    Array.from({ length: EVENTS }, () => ({ type: 'conversation.resolved' })),
  )
  await emulator.api.clock.advance('1d')
  await emulator.wait()
  return sent.map(one => one.id)
}

async function expectEachOnce(setting: Setting, ids: readonly string[]): Promise<void> {
  await expect.poll(() => setting.handled.length).toBeGreaterThanOrEqual(ids.length)
  expect([...setting.handled].sort()).toEqual([...ids].sort())
  const { deliveries } = await setting.emulator.api.deliveries.list({ state: 'undelivered' })
  expect(deliveries).toEqual([])
}

describe('an Express app with Ackhook handles each event once', () => {
  const cases: readonly (readonly [name: string, faults: EmulatorFaults, seen: string | undefined])[] = [
    ['duplicates', { duplicate: true }, 'duplicate'],
    ['duplicates at the same moment', { concurrentDuplicate: true }, undefined],
    ['events out of order', { disorder: true }, undefined],
    ['delays', { delay: '30s' }, undefined],
    ['lost replies', { lostReply: 0.5 }, 'duplicate'],
    ['tampered bytes', { tamper: 0.5 }, 'signature_mismatch'],
    ['stale timestamps', { staleTimestamp: 0.5 }, 'timestamp_too_old'],
    [
      'everything at once',
      {
        ...{ duplicate: 0.4, concurrentDuplicate: 0.3, disorder: 0.5, delay: '10s' },
        ...{ lostReply: 0.3, tamper: 0.2, staleTimestamp: 0.2 },
      },
      'duplicate',
    ],
  ]

  it.each(cases)('in spite of %s', async (_, faults, seen) => {
    const setting = await withAckhook(faults, {}, { delivery: { attempts: 40, minDelay: '1s', factor: 1.5 } })
    await expectEachOnce(setting, await sendAll(setting))
    const { deliveries } = await setting.emulator.api.deliveries.list({}, { limit: 200 })
    const replied = deliveries.map(one => one.lastCode)
    if (seen !== undefined) expect([...setting.codes, ...replied]).toContain(seen)
  })

  it('even if retries keep the original timestamp, with a tolerance that covers them', async () => {
    const setting = await withAckhook(
      { frozenTimestamp: true, lostReply: 0.4 },
      { tolerance: '24h' },
      { delivery: { attempts: 40, minDelay: '1m', factor: 1.2 } },
    )
    await expectEachOnce(setting, await sendAll(setting))
  })

  it('while its secret is rotated: the new one is added before the old one expires', async () => {
    const next = 'whsec_next_0123456789abcdef'
    const setting = await withAckhook({ lostReply: 0.3 }, { secret: [SECRET, next] })
    const before = await sendAll(setting)
    await setting.emulator.api.endpoints.rotateSecret({ secret: next, overlap: '1h' })
    const during = await sendAll(setting)
    const after = await sendAll(setting)
    await expectEachOnce(setting, [...before, ...during, ...after])
    expect(setting.codes).not.toContain('signature_mismatch')
  })
})

describe('a hand-written receiver is caught', () => {
  /** Starts a receiver that verifies, replies and handles, but does not remember ids. */
  async function withoutDedupe(faults: EmulatorFaults): Promise<Setting> {
    const clock = fakeClock('2026-03-01T12:00:00Z')
    const handled: string[] = []
    const app = express()
    app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
      const header = String(request.headers['x-service-signature'])
      const [, timestamp = ''] = /^t=(\d+)/.exec(header) ?? []
      if (header !== sign(request.body, { secret: SECRET, timestamp })) return void response.sendStatus(401)
      handled.push(JSON.parse(request.body.toString()).id)
      response.sendStatus(202)
    })
    return { emulator: await emulatorFor(await listen(app), clock, { faults }), clock, handled, codes: [] }
  }

  it.each([{ duplicate: true }, { concurrentDuplicate: true }, { lostReply: 0.5 }] as const)(
    'if it does not remember handled events: %o',
    async faults => {
      const setting = await withoutDedupe(faults)
      const ids = await sendAll(setting)
      expect(new Set(setting.handled)).toEqual(new Set(ids))
      expect(setting.handled.length).toBeGreaterThan(ids.length)
    },
  )

  it('only if a fault occurs: otherwise it seems correct', async () => {
    const setting = await withoutDedupe({})
    const ids = await sendAll(setting)
    expect([...setting.handled].sort()).toEqual([...ids].sort())
  })
})
