import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watch } from '../../../../test/support/receiving.ts'
import type { Inbox, InboxStats } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { inspectReceiver } from './inspect.ts'
import type { ReceiverOptions } from './options.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const WAITING: InboxStats = { pending: 200, active: 0, dead: 0, oldestPendingMs: 1000 }

function receiverOn(change: Partial<Inbox> = {}, options: Partial<ReceiverOptions> = {}) {
  const start = vi.fn(memoryInbox().start)
  const polled = { durable: true, location: 'file webhooks.db', statsBeforeStart: () => WAITING }
  const inbox = { ...memoryInbox(), start, ...polled, ...change }
  const { receiver, logger } = watch({ ...(options as object), inbox })
  const told = () => logger.lines.filter(({ fields }) => fields['code'] === 'never_started')
  return { receiver, start, told, inspected: inspectReceiver(receiver), logger }
}

it('tells once, after ten seconds, how many events wait for a start that nobody has called, and starts nothing', async () => {
  const { told, start, inspected } = receiverOn()
  await vi.advanceTimersByTimeAsync(9999)
  expect(told()).toEqual([])
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(told()).toEqual([
    {
      level: 'error',
      fields: { code: 'never_started', pending: 200, active: 0 },
      message: expect.stringMatching(
        /Nobody has started .*file webhooks.db.* 200 events wait now\. .*gracefulShutdown\(hooks, server\), or await hooks\.start\(\)/,
      ),
    },
  ])
  expect(start).not.toHaveBeenCalled()
  expect(inspected.isNeverStarted()).toBe(true)
})

it('tells it too if the count fails or hangs, with the reason', async () => {
  for (const statsBeforeStart of [
    () => Promise.reject(new Error('no connection')),
    () => new Promise<never>(() => {}),
    () => {
      throw new Error('no file')
    },
  ]) {
    const { told } = receiverOn({ statsBeforeStart })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(told()).toMatchObject([
      { level: 'error', message: /unknown: .*(no connection|not respond|no file)/ },
    ])
  }
})

it('counts those of a process that has ended apart from those that wait', async () => {
  const { told } = receiverOn({ statsBeforeStart: () => ({ ...WAITING, pending: 1, active: 2 }) })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told()[0]?.message).toContain(
    '1 event waits now, and 2 belong to another process, or to one that has',
  )
})

it.each<[string, Partial<Inbox>, Partial<ReceiverOptions>]>([
  [
    'an inbox whose engine calls the consumer, or that begins empty',
    { statsBeforeStart: undefined as never },
    {},
  ],
  ['a receiver that only receives', {}, { concurrency: 0 }],
])('tells nothing of %s', async (_, change, options) => {
  const { told, inspected } = receiverOn(change, options)
  expect(vi.getTimerCount()).toBe(0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told()).toEqual([])
  expect(inspected.isNeverStarted()).toBe(false)
})

it.each(['a start', 'a start that failed', 'a start while it counts', 'a drain'])(
  'tells nothing after %s',
  async what => {
    let counted = (_: InboxStats): void => {}
    const { receiver, told } = receiverOn({
      ...(what === 'a start that failed' && { start: () => Promise.reject(new Error('no disk')) }),
      statsBeforeStart: () => new Promise(resolve => (counted = resolve)),
    })
    if (what.startsWith('a start w')) await vi.advanceTimersByTimeAsync(10_000)
    if (what === 'a drain') await receiver.close()
    else await receiver.start().catch(() => {})
    counted(WAITING)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(told()).toEqual([])
  },
)
