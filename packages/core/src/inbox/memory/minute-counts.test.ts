import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { settle } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { NonRetryableError } from '../../errors/errors.ts'
import { memoryInbox } from './memory-inbox.ts'
import { MinuteCounts } from './minute-counts.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: 60_000 * 30_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

it('counts by the minute, for an hour', () => {
  const counts = new MinuteCounts()
  counts.add('received')
  counts.add('handled')
  vi.advanceTimersByTime(59_999)
  counts.add('handled')
  vi.advanceTimersByTime(1)
  counts.add('deadLettered')
  expect(counts.list()).toEqual([
    { startedAt: 60_000 * 30_000_000, received: 1, handled: 2, deadLettered: 0 },
    { startedAt: 60_000 * 30_000_001, received: 0, handled: 0, deadLettered: 1 },
  ])
  vi.advanceTimersByTime(59 * 60_000)
  expect(counts.list()).toHaveLength(1)
  for (let minute = 0; minute < 100; minute++) {
    counts.add('handled')
    vi.advanceTimersByTime(60_000)
  }
  expect(counts.list()).toHaveLength(59)
})

it('counts handled and dead-lettered events', async () => {
  const inbox = memoryInbox()
  const { receiver, send } = watch({ inbox })
  receiver.on('*', ({ id }) => {
    if (id === 'dead') throw new NonRetryableError('no')
  })
  for (const id of ['a', 'b', 'dead', 'a']) await send({ id })
  await settle()
  expect(await inbox.throughput?.()).toMatchObject([{ received: 3, handled: 2, deadLettered: 1 }])
})
