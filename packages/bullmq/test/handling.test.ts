import { bullmqInbox } from '@ackhook/bullmq'
import { createReceiver, type Inbox, type Receiver } from '@ackhook/core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { eventBody, recordingLogger, SECRET, signedRequest } from '../../../test/support/receiving.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const SLOW = 'call.ended'
const QUICK = 'message.received'

test.each([
  ['perType', { total: 4, perType: 2 }],
  ['perNamespace', { total: 4, perNamespace: 2 }],
  ['perGroup', { total: 4, by: () => 'a customer', perGroup: 2 }],
] as const)(
  'slots cannot be shared %s on BullMQ: a receiver is refused, and told of the recipe',
  (name, concurrency) => {
    const inbox = bullmqInbox({ connection: 'redis://localhost:1' })
    expect(() => createReceiver({ secret: SECRET, inbox, concurrency })).toThrow(
      expect.objectContaining({
        option: `concurrency.${name}`,
        message: expect.stringContaining('Quick events beside slow ones'),
      }),
    )
  },
)

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  function receiving(inbox: Inbox, concurrency: number): Receiver & { warned(): unknown[] } {
    const logger = recordingLogger()
    const receiver = createReceiver({ secret: SECRET, inbox, concurrency, logger })
    onTestFinished(async () => void (await receiver.close({ timeout: '1s' })))
    const warned = () =>
      logger.lines
        .filter(({ level }) => level !== 'info')
        .map(({ fields }) => fields['code'])
        // The types of these tests are made up.
        .filter(code => code !== 'redis_not_durable' && code !== 'type_unknown')
    return Object.assign(receiver, { warned })
  }

  test('a pause is BullMQ’s own, so a dashboard shows it, and what resumes there has resumed here', async () => {
    const queue = unique('q')
    const dashboard = engine.queue(queue)
    onTestFinished(() => dashboard.close())
    const inbox = engine.inbox(queue)
    onTestFinished(async () => void (await inbox.close(1000)))
    const policy = aPolicy()
    const told = () =>
      policy.seen.flatMap(one => (one.kind === 'notice' && /paused|resumed/.test(one.code) ? [one.code] : []))
    const work = scripted(COMPLETED)
    await inbox.start(work, policy)
    expect(await inbox.handling?.pause()).toBe(true)
    expect(await dashboard.isPaused()).toBe(true)
    await until(() => told().length === 1)
    await inbox.accept(aDelivery())
    await dashboard.resume()
    await until(() => work.runs.length === 1)
    expect(await inbox.handling?.paused()).toEqual([])
    await until(() => told().length === 2)
    expect(told()).toEqual(['handling_paused', 'handling_resumed'])
    const [pause] = policy.seen.flatMap(one =>
      one.kind === 'notice' && one.code === 'handling_paused' ? [one.message] : [],
    )
    expect(pause).toMatch(/npx ackhook inbox resume --all --(redis|postgres) \S+ --queue q/)
  })

  test('a pause made in a dashboard is listed, with the time at which it was noticed, may become ours, and ends here', async () => {
    const queue = unique('q')
    const dashboard = engine.queue(queue)
    onTestFinished(() => dashboard.close())
    const inbox = engine.inbox(queue)
    onTestFinished(async () => void (await inbox.close(1000)))
    const policy = aPolicy()
    await inbox.start(scripted(COMPLETED), policy)
    const pausedAt = Date.now()
    await dashboard.pause()
    const [pause] = (await inbox.handling?.paused()) ?? []
    expect(pause?.since).toBeGreaterThanOrEqual(pausedAt)
    expect(await inbox.handling?.paused()).toEqual([pause])
    expect(await inbox.handling?.pause()).toBe(false)
    await until(() => policy.seen.some(one => one.kind === 'notice' && one.code === 'handling_paused'))
    expect(await inbox.handling?.paused()).toEqual([pause])
    expect(await inbox.handling?.resume()).toBe(true)
    expect(await dashboard.isPaused()).toBe(false)
  })

  // As under "Quick events beside slow ones" in the README.
  test('20 quick events are handled while 1,500 slow ones of another type wait in a queue of their own', async () => {
    const [names, types] = [[unique('quick'), unique('slow')], new Set([SLOW])]
    const [quick, slow] = names.map(queue => engine.inbox(queue)) as [Inbox, Inbox]
    const hooks = receiving(byType(quick, slow, types), 0)
    const [quickWorker, slowWorker] = names.map(queue => receiving(engine.inbox(queue), 4)) as [
      ReturnType<typeof receiving>,
      ReturnType<typeof receiving>,
    ]
    const [begun, ended] = [new Map<string, number>(), { slow: 0, quick: 0 }]
    let release: () => void = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    slowWorker.on(SLOW, async () => {
      begun.set(SLOW, (begun.get(SLOW) ?? 0) + 1)
      await released
      ended.slow++
    })
    quickWorker.on(QUICK, async () => {
      ended.quick++
    })
    for (const receiver of [hooks, quickWorker, slowWorker]) await receiver.start()

    const send = async (type: string) => {
      const request = () => signedRequest(eventBody({ id: unique('evt_'), type }))
      expect((await hooks.handle(request())).status).toBe(202)
    }
    for (let sent = 0; sent < 1500; sent += 100)
      await Promise.all(Array.from({ length: 100 }, () => send(SLOW)))
    await until(() => begun.get(SLOW) === 4)
    await Promise.all(Array.from({ length: 20 }, () => send(QUICK)))
    await until(() => ended.quick === 20)
    expect(ended.slow).toBe(0)
    expect(await slow.stats()).toMatchObject({ pending: 1496, active: 4 })
    release()
    await hooks.close({ timeout: '5s' })
    expect([hooks, quickWorker, slowWorker].flatMap(receiver => receiver.warned())).toEqual([])
  }, 120_000)
})

/** One inbox that only receives, for two queues. */
function byType(quick: Inbox, slow: Inbox, types: ReadonlySet<string>): Inbox {
  return {
    ...quick,
    start: async (work, policy) => {
      await Promise.all([quick.start(work, policy), slow.start(work, policy)])
    },
    accept: delivery => (types.has(delivery.type) ? slow : quick).accept(delivery),
    close: async timeoutMs => {
      const [report] = await Promise.all([quick.close(timeoutMs), slow.close(timeoutMs)])
      return report
    },
  }
}
