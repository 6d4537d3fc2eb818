import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../src/create-engine.ts'
import { QueueWatch } from '../src/operating/queue-watch.ts'
import { resolveOptions } from '../src/options.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine
  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  async function inboxOn(queue: string, concurrency = 4) {
    const inbox = engine.inbox(queue)
    onTestFinished(async () => void (await inbox.close(1000)))
    const policy = aPolicy({ concurrency })
    const logged: unknown[] = []
    const logger = { ...policy.logger, warn: (fields: object) => void logged.push(Object(fields).code) }
    await inbox.start(scripted(COMPLETED), { ...policy, logger })
    return { inbox, logged }
  }

  function dashboardOn(queue: string) {
    const dashboard = engine.queue(queue)
    onTestFinished(() => dashboard.close())
    return dashboard
  }

  async function watchOn(queue: string) {
    const own = await createEngine(resolveOptions({ ...engine.options, queue }))
    onTestFinished(() => own.disconnect())
    await own.ready()
    const watch = new QueueWatch(own, { retentionMs: 604_800_000 })
    return async () =>
      (await watch.notices()).map(({ code }) => code).filter(code => /^(queue|events)_/.test(code))
  }

  test('a paused queue shows in stats and is logged once at the start, until it is resumed', async () => {
    const queue = unique('q')
    const dashboard = dashboardOn(queue)
    await dashboard.pause()
    const { inbox, logged } = await inboxOn(queue)
    await until(() => logged.includes('queue_paused'))
    expect(logged.filter(code => code === 'queue_paused')).toEqual(['queue_paused'])
    await inbox.accept(aDelivery())
    expect(await inbox.stats()).toMatchObject({ paused: true, pending: 1 })
    await dashboard.resume()
    await until(async () => (await inbox.stats()).pending === 0)
    expect(await inbox.stats()).not.toHaveProperty('paused')
  })

  test.each(['drain', 'obliterate'] as const)(
    'after a %s, it is told that waiting events are gone',
    async how => {
      const queue = unique('q')
      const { inbox } = await inboxOn(queue, 0)
      const notices = await watchOn(queue)
      for (let i = 0; i < 3; i++) await inbox.accept(aDelivery())
      expect(await notices()).toEqual([])
      await dashboardOn(queue)[how]()
      expect(await notices()).toContain('events_removed')
    },
  )

  test('events that were handled meanwhile are not gone', async () => {
    const queue = unique('q')
    const { inbox } = await inboxOn(queue, 0)
    const notices = await watchOn(queue)
    for (let i = 0; i < 3; i++) await inbox.accept(aDelivery())
    expect(await notices()).toEqual([])
    const { inbox: handling } = await inboxOn(queue)
    await until(async () => (await handling.stats()).pending + (await handling.stats()).active === 0)
    expect(await notices()).toEqual([])
  })
})
