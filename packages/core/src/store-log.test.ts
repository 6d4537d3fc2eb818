import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { recordingLogger } from '../../../test/support/receiving.ts'
import { createStoreLog } from './store-log.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('says what failed and what it means for events, and nothing of what else is observed', () => {
  const logger = recordingLogger()
  const log = createStoreLog(logger)
  const error = new Error('connection refused')
  log({ kind: 'received' })
  log({ kind: 'store_slow', operation: 'work', durationMs: 300 })
  log({ kind: 'store_down', operation: 'work', error })
  expect(logger.lines).toEqual([
    {
      level: 'error',
      fields: { code: 'store_down', operation: 'work', err: error },
      message:
        "The inbox or its store failed in 'work'. Until it works, deliveries may be refused, and events wait or run again; none that it holds is lost.",
    },
  ])
})

it('reports an outage once a minute, with its number, each operation by itself', () => {
  const logger = recordingLogger()
  const log = createStoreLog(logger)
  const fail = (operation: string) => log({ kind: 'store_down', operation, error: new Error('down') })
  for (let i = 0; i < 1000; i++) fail('settle')
  fail('accept')
  vi.advanceTimersByTime(59_999)
  fail('settle')
  expect(logger.lines.map(line => line.fields['operation'])).toEqual(['settle', 'accept'])
  vi.advanceTimersByTime(1)
  fail('settle')
  expect(logger.lines).toHaveLength(3)
  expect(logger.lines[2]?.message).toContain("failed in 'settle' (and 1000 more since the last report).")
})
