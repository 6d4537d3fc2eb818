import type { Delivery, Inbox, Verdict } from '@ackhook/core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startHoldingProxy } from '../support/holding-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const DEAD: Verdict = { outcome: 'dead', error: new Error('bad'), noted: false }

describe.each([
  ['Redis', redisEngine],
  ['PostgreSQL', postgresEngine],
] as const)('on %s', (_, start) => {
  let engine: TestEngine
  const closing: (() => unknown)[] = []

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  async function opened(queue: string, options = {}, ...verdicts: Verdict[]) {
    const inbox = engine.inbox(queue, options)
    closing.push(() => inbox.close(2000))
    const process = scripted(...verdicts)
    await inbox.start(process, aPolicy({ concurrency: verdicts.length === 0 ? 0 : 4 }))
    return { inbox, process }
  }

  async function deadLetter(queue: string, receiver: Inbox): Promise<Delivery> {
    const delivery = aDelivery()
    const { inbox } = await opened(queue, {}, DEAD)
    await receiver.accept(delivery)
    await until(async () => (await receiver.stats()).dead === 1)
    await inbox.close(2000)
    return delivery
  }

  test.each([0, 1, 2, 3, 4, 5])(
    'an event that comes again while its dead letter is discarded is not lost, from step %d of the discarding',
    async steps => {
      const queue = unique('q')
      const { inbox: receiver } = await opened(queue)
      const delivery = await deadLetter(queue, receiver)
      const proxy = await startHoldingProxy(engine.port)
      closing.push(() => proxy.stop())
      const { inbox: console } = await opened(queue, engine.optionsAt(proxy.port))
      proxy.holdAfter(steps)
      let settled = false
      const discarded = Promise.resolve(console.deadLetters.discard(delivery.key)).finally(() => {
        settled = true
      })
      await until(() => settled || proxy.holding)
      expect(await receiver.accept(delivery)).toEqual({ outcome: 'accepted' })
      proxy.release()
      await discarded
      const { process } = await opened(queue, {}, COMPLETED)
      await until(() => process.runs.length === 1)
    },
  )
})
