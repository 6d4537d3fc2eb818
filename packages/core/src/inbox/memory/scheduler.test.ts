import { describe, expect, it, vi } from 'vitest'
import type { Entry } from './entry.ts'
import { Pauses } from './pauses.ts'
import { PerRequestScheduler } from './per-request-scheduler.ts'
import { QueueingScheduler } from './queueing-scheduler.ts'

const entry = (id: string) => ({ phase: 'held', delivery: { id } }) as unknown as Entry
const fault = new Error('a fault of the inbox')

// An unhandled rejection would end a process, and fails this file.
describe.each([QueueingScheduler, PerRequestScheduler])('%o', Scheduler => {
  it.each([
    [
      'throws',
      () => {
        throw fault
      },
    ],
    ['rejects', () => Promise.reject(fault)],
  ])('retries an event whose attempt %s, and runs others', async (_, fail) => {
    const applied: [string, unknown][] = []
    const scheduler = new Scheduler({
      policy: { concurrency: 1, handlerTimeoutMs: 1000 },
      pauses: new Pauses(),
      run: ({ delivery }) => (delivery.id === 'faulty' ? fail() : { outcome: 'completed' }),
      apply: (result, { delivery }) => applied.push([delivery.id, result]),
    })
    scheduler.enqueue(entry('faulty'))
    await vi.waitFor(() =>
      expect(applied).toEqual([['faulty', { outcome: 'retry', delayMs: 1000, error: fault }]]),
    )
    scheduler.enqueue(entry('next'))
    await vi.waitFor(() => expect(applied[1]).toEqual(['next', { outcome: 'completed' }]))
    expect(scheduler.active).toBe(0)
  })
})

it('yields to I/O between attempts that end at once', async () => {
  let runs = 0
  const scheduler = new QueueingScheduler({
    policy: { concurrency: 1, handlerTimeoutMs: 1000 },
    pauses: new Pauses(),
    run() {
      runs++
      for (const end = performance.now() + 1; performance.now() < end; );
      return { outcome: 'completed' }
    },
    apply: () => {},
  })
  for (let i = 0; i < 50; i++) scheduler.enqueue(entry(`evt_${i}`))
  await new Promise(resolve => setImmediate(resolve))
  expect(runs).toBeGreaterThan(0)
  expect(runs).toBeLessThan(50)
  await vi.waitFor(() => expect(runs).toBe(50))
})
