import { afterEach, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../../test/support/receiving.ts'
import type { Delivery } from '../inbox/delivery.ts'
import type { Failure, FailureHandler } from './failure.ts'
import { createAttemptLog, createListenerLog, notifyFailure } from './failure.ts'

const body = new Uint8Array([1])
const delivery = { id: 'evt_1', type: 'a.b', namespace: 'n', body } as Delivery
const error = new Error('handler')
const dead: Failure = { error, attempt: 5, delivery }
const failed: Failure = { error, attempt: 2, delivery, retryInMs: 250 }
const event = { id: 'evt_1', type: 'a.b', created_at: '', data: {} }

function notify(failure: Failure, ...listeners: FailureHandler[]) {
  const logger = recordingLogger()
  const parts = { logger, handlerTimeoutMs: 1000, acknowledge: 'immediately' } as const
  const logFailure = createAttemptLog(parts)
  const logListener = createListenerLog(parts.logger)
  const all = { ...parts, logFailure, logListener }
  return { logger, notified: notifyFailure(listeners, failure, async () => event, all) }
}

afterEach(() => {
  vi.useRealTimers()
})

it('notifies every listener, in order and one after the other', async () => {
  const order: string[] = []
  const { notified, logger } = notify(
    dead,
    async (failure, told) => {
      expect([failure, told]).toEqual([dead, event])
      await new Promise(resolve => setImmediate(resolve))
      order.push('first')
    },
    () => void order.push('second'),
  )
  expect(await notified).toBe(true)
  expect(order).toEqual(['first', 'second'])
  expect(logger.lines).toEqual([])
})

it('logs the failure if there is no listener', async () => {
  const first = notify(failed)
  expect(await first.notified).toBe(false)
  const fields = { err: error, event: 'evt_1', type: 'a.b', namespace: 'n' }
  expect(first.logger.lines).toEqual([
    {
      level: 'warn',
      fields: { ...fields, attempt: 2, error: 'Error' },
      message: 'Attempt 2 at event evt_1 (a.b) failed; the next is in 250 ms.',
    },
  ])
  const last = notify(dead)
  expect(await last.notified).toBe(false)
  expect(last.logger.lines).toEqual([
    {
      level: 'error',
      fields: { ...fields, attempt: 5 },
      message: 'Event evt_1 (a.b) is dead-lettered after attempt 5.',
    },
  ])
})

it('logs a listener that fails, notifies the others, and returns false', async () => {
  const other = vi.fn()
  const err = new Error('listener')
  const { notified, logger } = notify(
    dead,
    () => {
      throw err
    },
    async () => {
      throw err
    },
    other,
  )
  expect(await notified).toBe(false)
  expect(other).toHaveBeenCalledTimes(1)
  // Both failed alike: one line a minute.
  expect(logger.lines).toEqual([
    {
      level: 'error',
      fields: { err, event: 'evt_1' },
      message: 'An onError or onDeadLetter handler failed.',
    },
  ])
})

it('logs a listener that fails for a thousand events once', async () => {
  const logger = recordingLogger()
  const parts = { handlerTimeoutMs: 1000, logFailure: () => {}, logListener: createListenerLog(logger) }
  const listener = () => {
    throw new Error('the error tracker is down')
  }
  for (let i = 0; i < 1000; i++) await notifyFailure([listener], dead, async () => event, parts)
  expect(logger.lines).toMatchObject([
    { level: 'error', fields: { event: 'evt_1' }, message: 'An onError or onDeadLetter handler failed.' },
  ])
})

it('does not wait forever for a listener', async () => {
  vi.useFakeTimers()
  const { notified, logger } = notify(dead, () => new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(1000)
  expect(await notified).toBe(false)
  expect(logger.lines[0]?.fields['err']).toMatchObject({ name: 'DeadlineError' })
})

it('leaves no timer behind if a listener returns a thenable that throws', async () => {
  vi.useFakeTimers()
  const thenable = Object.fromEntries([
    [
      'then',
      () => {
        throw new Error('no')
      },
    ],
  ])
  const { notified, logger } = notify(dead, () => thenable)
  expect(await notified).toBe(false)
  expect(logger.lines).toMatchObject([{ level: 'error' }])
  expect(vi.getTimerCount()).toBe(0)
})
