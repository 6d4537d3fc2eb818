import type { Delivery, Inbox } from '@ackhook/core'
import type { AttemptResult } from '@ackhook/core/spi'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startHoldingProxy } from '../../../test/support/holding-proxy.ts'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { aDelivery, aPolicy, COMPLETED, scripted, unique, until } from './parts.ts'

const DEAD: AttemptResult = { outcome: 'dead', error: new Error('bad'), notified: false }

const textOf = ({ body }: Delivery) => Buffer.from(body).toString()
const STEPS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]

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

  async function opened(queue: string, options = {}, ...results: AttemptResult[]) {
    const inbox = engine.inbox(queue, options)
    closing.push(() => inbox.close(2000))
    const work = scripted(...results)
    await inbox.start(work, aPolicy({ concurrency: results.length === 0 ? 0 : 4 }))
    return { inbox, work }
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
    'an event redelivered while its dead letter is being discarded is not lost, from step %d',
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
      const { work } = await opened(queue, {}, COMPLETED)
      await until(() => work.runs.length === 1)
    },
  )

  test.each(STEPS)(
    'of two redeliveries of a dead letter with different bytes, each accepted one runs, from step %d',
    async steps => {
      const queue = unique('q')
      const { inbox: receiver } = await opened(queue)
      const delivery = await deadLetter(queue, receiver)
      const corrected = { ...delivery, body: Buffer.from('corrected'), fingerprint: 99 }
      const proxy = await startHoldingProxy(engine.port)
      closing.push(() => proxy.stop())
      const { inbox: slow } = await opened(queue, engine.optionsAt(proxy.port))
      const { work } = await opened(queue, {}, COMPLETED)
      proxy.holdAfter(steps)
      const answers = new Map<string, string>()
      const accept = async (inbox: Inbox, sent: Delivery) => {
        answers.set(textOf(sent), (await inbox.accept(sent)).outcome)
      }
      const slowly = accept(slow, corrected)
      await until(() => answers.size === 1 || proxy.holding)
      await accept(receiver, delivery)
      await until(() => work.runs.length > 0)
      proxy.release()
      await slowly
      const bodies = () => work.runs.map(run => textOf(run.delivery))
      const accepted = [...answers].filter(([, outcome]) => outcome === 'accepted').map(([body]) => body)
      expect(accepted).not.toEqual([])
      await until(() => accepted.every(body => bodies().includes(body)))
    },
  )
})
