import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watch } from '../../../../test/support/receiving.ts'
import type { Inbox } from '../inbox/inbox.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { inspectReceiver } from './inspect.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function receiverOn(start: Inbox['start'], given: Inbox = memoryInbox()) {
  const { receiver, logger } = watch({ inbox: { ...given, start } })
  const inspected = inspectReceiver(receiver)
  const told = () => logger.lines.map(({ level, fields }) => `${level} ${fields['code']}`)
  return { receiver, inspected, told, logger, keep: () => inspected.keepStarting({ keepsProcess: false }) }
}

it('tries again until the inbox starts, tells each kind of failure once, and that it works again', async () => {
  const failures = ['ECONNREFUSED', 'ECONNREFUSED', 'NOAUTH', 'ECONNREFUSED', 'NOAUTH']
  const start = vi.fn(async () => {
    const failure = failures.shift()
    if (failure !== undefined) throw new Error(failure)
  })
  const { inspected, told, keep, receiver } = receiverOn(start)
  keep()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(start).toHaveBeenCalledTimes(6)
  expect(inspected.state()).toBe('started')
  expect(inspected.outage()).toBeUndefined()
  expect(told().filter(line => line.includes('store'))).toEqual([
    'error store_down',
    'error store_down',
    'warn store_up',
  ])
  await receiver.start()
  keep()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(start).toHaveBeenCalledTimes(6)
})

it('starts at most five seconds after the inbox works again, however long that took', async () => {
  let isDown = true
  const { inspected, keep } = receiverOn(async () => {
    if (isDown) throw new Error('ECONNREFUSED')
  })
  keep()
  await vi.advanceTimersByTimeAsync(1_800_000)
  isDown = false
  await vi.advanceTimersByTimeAsync(5000)
  expect(inspected.state()).toBe('started')
})

it('tells a failure that no outage explains, once', async () => {
  const inbox = memoryInbox()
  const first = watch({ inbox })
  await first.receiver.start()
  const second = watch({ inbox })
  inspectReceiver(second.receiver).keepStarting({ keepsProcess: false })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(second.logger.lines.filter(({ fields }) => fields['code'] === 'start_failed')).toMatchObject([
    { level: 'error', message: /could not start: .*already serves another receiver/ },
  ])
})

it('tells once that a start hangs', async () => {
  const { told, keep } = receiverOn(() => new Promise(() => {}))
  keep()
  await vi.advanceTimersByTimeAsync(9000)
  expect(told().filter(line => line.includes('start'))).toEqual([])
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(told().filter(line => line.includes('start'))).toEqual(['error start_slow'])
})

it.each([
  [true, true],
  [false, false],
])(
  'a start that hangs keeps the process alive, %s, only if that was asked for',
  async (keepsProcess, isKept) => {
    const timers: NodeJS.Timeout[] = []
    const { setInterval: plan } = globalThis
    vi.spyOn(globalThis, 'setInterval').mockImplementation((...given) => {
      timers.push(plan(...given))
      return timers.at(-1)!
    })
    const { inspected } = receiverOn(() => new Promise(() => {}))
    inspected.keepStarting({ keepsProcess })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(timers.some(timer => timer.hasRef())).toBe(isKept)
    vi.mocked(globalThis.setInterval).mockRestore()
  },
)

it.each(['close', 'close during a start'])('ends with %s, leaves no timer, and tells nothing', async when => {
  let fail = (_: Error): void => {}
  const start = vi.fn(() => new Promise<void>((_, reject) => (fail = reject)))
  const { receiver, keep, told } = receiverOn(start)
  keep()
  if (when === 'close') fail(new Error('ECONNREFUSED'))
  await vi.advanceTimersByTimeAsync(1)
  const closed = receiver.close()
  fail(new Error('ECONNREFUSED'))
  await vi.advanceTimersByTimeAsync(10_001)
  await closed
  await vi.advanceTimersByTimeAsync(60_000)
  expect(start).toHaveBeenCalledTimes(1)
  expect(told().filter(line => line.includes('start_'))).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
  keep()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told().filter(line => line.includes('start_'))).toEqual([])
})
