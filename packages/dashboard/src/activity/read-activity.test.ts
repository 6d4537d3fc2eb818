import { type DedupeStore, memoryInbox, memoryStore, NonRetryableError } from '@ackhook/core'
import { inspectReceiver } from '@ackhook/core/spi'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, settle } from '../../../../test/support/memory-inbox.ts'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import type { ActivityReport } from '../protocol/protocol.ts'
import { readActivity } from './read-activity.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-11-28T10:30:10Z') })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Time after which counts are written. */
const WRITTEN_MS = 2000
let ids = 0

/** A receiver on an inbox, and what a page would show of it. */
function operate(options: Parameters<typeof watch>[0] = {}) {
  const watched = watch({ inbox: memoryInbox(), ...options })
  const { receiver } = watched
  const inspected = inspectReceiver(receiver)
  return {
    ...watched,
    inbox: inspected.inbox,
    report: (): Promise<ActivityReport> =>
      readActivity({ inbox: inspected.inbox, receiver: inspected }, '1h'),
    async send(count: number, type = 'message.received'): Promise<void> {
      for (let i = 0; i < count; i++) {
        const timestamp = Math.floor(Date.now() / 1000)
        await receiver.handle(signedRequest(eventBody({ id: `evt_${ids++}`, type }), { timestamp }))
      }
      await settle()
    },
  }
}

describe('the verdict', () => {
  it('is idle while nothing comes', async () => {
    const { receiver, report } = operate()
    await receiver.start()
    expect((await report()).verdict).toEqual({
      state: 'idle',
      tone: 'idle',
      sentence: 'Idle: nothing came in the last hour, and nothing waits.',
    })
  })

  it('is fine when events are handled, also after a failure that another attempt made good', async () => {
    const { receiver, report, send } = operate({ retry: { minDelay: '100ms' } })
    let isFirst = true
    receiver.on('*', () => {
      if (isFirst) {
        isFirst = false
        throw new Error('once')
      }
    })
    await send(12)
    await advance(WRITTEN_MS)
    await advance(WRITTEN_MS)
    expect((await report()).verdict).toEqual({
      state: 'fine',
      tone: 'good',
      sentence: 'Fine: 12 events handled in the last hour, and 1 attempt failed.',
    })
  })

  it('is behind when events that could run have waited for a minute', async () => {
    const { receiver, report, send } = operate({ concurrency: 1, handlerTimeout: '10m' })
    receiver.on('*', () => new Promise(() => {}))
    await send(4)
    await advance(50_000)
    expect((await report()).verdict.state).toBe('fine')
    await advance(40_000)
    expect((await report()).verdict).toEqual({
      state: 'behind',
      tone: 'wait',
      sentence: 'Behind: 3 events wait, the oldest for 2 min.',
      cause:
        'In the last five minutes 4 events came and 0 attempts ended. Raise concurrency, add processes or make handlers faster.',
      where: { list: 'pending' },
    })
  })

  it('is failing at 88% failures, although the queue stays flat', async () => {
    const { receiver, report, send } = operate()
    let attempts = 0
    receiver.on('*', () => {
      if (attempts++ % 25 >= 3) throw new NonRetryableError('no such customer')
    })
    for (let minute = 0; minute < 4; minute++) {
      await send(25)
      await advance(60_000)
    }
    const { verdict, waiting, figures } = await report()
    expect(waiting).toMatchObject({ pending: 0, active: 0, dead: 88 })
    expect(figures?.total).toMatchObject({ accepted: 100, handled: 12, failed: 88, failedShare: 0.88 })
    expect(verdict).toEqual({
      state: 'failing_all',
      tone: 'bad',
      sentence: 'Failing: 88% of the last 25 attempts at message.received failed, within 70 s.',
      cause: 'NonRetryableError: no such customer',
      where: { list: 'letters' },
    })
  })

  it('is failing when every attempt fails, even the only one of the hour', async () => {
    const { receiver, report, send } = operate()
    receiver.on('*', () => {
      throw new NonRetryableError('no')
    })
    await send(1)
    await advance(WRITTEN_MS)
    expect((await report()).verdict).toMatchObject({
      state: 'failing_all',
      sentence: 'Failing: the last attempt at message.received failed, within 12 s.',
    })
  })

  it('names the type that fails beside others that are handled', async () => {
    const { receiver, report, send } = operate()
    receiver.on('message.received', () => {})
    receiver.on('conversation.resolved', () => {
      throw new NonRetryableError('no')
    })
    await send(500)
    await send(5, 'conversation.resolved')
    await advance(WRITTEN_MS)
    expect((await report()).verdict).toEqual({
      state: 'failing_types',
      tone: 'bad',
      sentence:
        'Failing: all of the last 5 attempts at conversation.resolved failed. 1 other type is handled.',
      cause: 'NonRetryableError: no',
      where: { list: 'letters', type: 'conversation.resolved' },
    })
  })

  it('names a second type that fails, and calls no type handled of which an attempt failed', async () => {
    const { receiver, report, send } = operate({ retry: { attempts: 1 } })
    let attempts = 0
    receiver.on('message.received', () => {})
    receiver.on('message.sent', () => {
      if (attempts++ === 0) throw new NonRetryableError('no')
    })
    receiver.on(['conversation.resolved', 'message.failed'], () => {
      throw new NonRetryableError('no')
    })
    await send(2, 'message.failed')
    await send(5, 'conversation.resolved')
    await send(3, 'message.sent')
    await advance(WRITTEN_MS)
    const failing =
      'Failing: all of the last 5 attempts at conversation.resolved failed, and message.failed fails too.'
    expect((await report()).verdict.sentence).toBe(`${failing} 1 other type had failures.`)
    await send(3)
    await advance(WRITTEN_MS)
    expect((await report()).verdict.sentence).toBe(`${failing} 1 other type is handled, and 1 had failures.`)
  })

  it('is fine again soon after the failures have ended', async () => {
    const { receiver, report, send } = operate()
    let isBroken = true
    receiver.on('*', () => {
      if (isBroken) throw new NonRetryableError('no')
    })
    await send(200)
    await advance(WRITTEN_MS)
    expect((await report()).verdict.state).toBe('failing_all')
    isBroken = false
    await advance(60_000)
    await send(7)
    await advance(WRITTEN_MS)
    expect((await report()).verdict.state).toBe('failing_all')
    await send(1)
    await advance(WRITTEN_MS)
    expect((await report()).verdict).toMatchObject({
      state: 'fine',
      sentence: 'Fine: 8 events handled in the last hour, and 200 attempts failed.',
    })
  })

  it('is paused, for how long, and with what waits', async () => {
    const { receiver, report, send, inbox } = operate()
    receiver.on('*', () => {})
    await receiver.start()
    await inbox.handling?.pause()
    await send(2)
    await advance(180_000)
    expect((await report()).verdict).toEqual({
      state: 'paused',
      tone: 'wait',
      sentence: 'Paused for 3 min: 2 events wait until somebody resumes handling.',
      where: { list: 'pending' },
    })
    await inbox.handling?.resume()
    await inbox.handling?.pause('message.received')
    expect((await report()).verdict).toMatchObject({
      state: 'paused',
      sentence: 'Paused: message.received is accepted, and waits until somebody resumes handling.',
      where: { list: 'pending', type: 'message.received' },
    })
  })

  it('is an outage while the store of the ids fails, until it works again', async () => {
    const inner = memoryStore()
    let isDown = false
    const store: DedupeStore = {
      ...inner,
      claim: (...args) => {
        if (isDown) throw new Error('connect ECONNREFUSED 127.0.0.1:6379')
        return inner.claim(...args)
      },
    }
    const { receiver, report, send } = operate({ inbox: memoryInbox({ store }) })
    receiver.on('*', () => {})
    await send(1)
    isDown = true
    await send(1)
    expect((await report()).verdict).toEqual({
      state: 'outage',
      tone: 'bad',
      sentence: 'Outage: the inbox or its store fails. Deliveries may be refused, and events wait.',
      cause: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:6379'),
    })
    isDown = false
    await advance(1000)
    await send(1)
    await advance(WRITTEN_MS)
    expect((await report()).verdict.state).toBe('fine')
  })

  it('is silent when deliveries are missing for longer than expected', async () => {
    const { receiver, report, send } = operate({ expectEvery: '1m' })
    receiver.on('*', () => {})
    await send(3)
    await advance(180_000)
    expect((await report()).verdict).toMatchObject({
      state: 'silent',
      tone: 'wait',
      sentence: 'Silent: no delivery for 3 min, longer than expectEvery allows.',
      where: { list: 'refusals' },
    })
  })
})

describe('the figures', () => {
  it('do not count a redrive as accepted, and measure its wait from the redrive on', async () => {
    const { receiver, report, send, inbox } = operate()
    let isBroken = true
    receiver.on('*', () => {
      if (isBroken) throw new NonRetryableError('no')
    })
    await send(1)
    await advance(1_200_000)
    isBroken = false
    const [letter] = await inbox.deadLetters.list()
    await inbox.deadLetters.redrive(letter!.key)
    await advance(WRITTEN_MS)
    const { figures } = await report()
    expect(figures?.total).toEqual({
      accepted: 1,
      handled: 1,
      failed: 1,
      retried: 0,
      deadLettered: 1,
      failedShare: 0.5,
      lag: { p50: 0.5, p95: 0.5 },
      handlerTime: { p50: 0.5, p95: 0.5 },
    })
  })

  it('have a point for each minute, percentiles to within 9 %, and the types', async () => {
    const { receiver, report, send } = operate({ handlerTimeout: '10m' })
    receiver.on('message.received', async () => advanced(200))
    receiver.on('message.sent', () => {})
    await send(1)
    await advance(200)
    await send(3, 'message.sent')
    await advance(60_000)
    const { figures } = await report()
    expect(figures?.series).toHaveLength(60)
    expect(figures?.series.at(-2)).toMatchObject({ accepted: 4, handled: 4 })
    expect(figures?.types.map(({ type, accepted }) => [type, accepted])).toEqual([
      ['message.sent', 3],
      ['message.received', 1],
    ])
    const { p95 = 0 } = figures?.types[1]?.handlerTime ?? {}
    expect(Math.abs(p95 - 200) / 200).toBeLessThan(0.1)
  })

  it('are absent, with the reason, in an inbox that keeps none', async () => {
    const { activity: _, ...inbox } = memoryInbox()
    const { receiver, report } = operate({ inbox: { ...inbox, cannotKeepActivity: 'it has no place' } })
    await receiver.start()
    const { figures, cannotKeep, verdict } = await report()
    expect([figures, cannotKeep]).toEqual([undefined, 'it has no place'])
    expect(verdict.sentence).toBe('Idle: nothing waits or runs.')
  })
})

function advanced(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
