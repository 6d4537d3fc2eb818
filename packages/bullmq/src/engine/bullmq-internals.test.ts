import { momentNow } from '@ackhook/core/spi'
import { PostgresQueueBackend, RedisQueueBackend } from 'bullmq'
import { expect, test, vi } from 'vitest'
import { checkLoop, postgresBackend, redisBackend, reportTakes } from './bullmq-internals.ts'
import type { EventJob } from './event-job.ts'

test("this BullMQ's backends have all members as they are listed", () => {
  expect(redisBackend(RedisQueueBackend.prototype)).toBe(RedisQueueBackend.prototype)
  expect(postgresBackend(PostgresQueueBackend.prototype)).toBe(PostgresQueueBackend.prototype)
})

test.each([
  ['lacks one', { execCommand: undefined }],
  ['gives one another parameter', { execCommand: (_client: unknown, _command: string) => {} }],
])('a BullMQ that %s is refused, and the error names the version to install', (_, change) => {
  const changed = Object.assign(Object.create(RedisQueueBackend.prototype), change)
  expect(() => redisBackend(changed)).toThrow(`changed ${Object.keys(change)[0]} of the backend`)
  expect(() => redisBackend(changed)).toThrow('npm install bullmq@~6.7')
  expect(() => checkLoop({})).toThrow('mainLoopQueue of Worker')
})

test('a take is reported with the moment at which its request was sent', async () => {
  let reply: (job: unknown[]) => void = () => {}
  const answered = new Promise<unknown[]>(resolve => {
    reply = resolve
  })
  const none = async () => ({ result: undefined, finishedOn: 0 })
  const backend = {
    moveToActive: () => answered,
    moveToCompleted: none,
    moveToFailed: none,
    moveToDelayed: async () => {},
  }
  let active: (job: EventJob) => void = () => {}
  const onTake = vi.fn()
  const on = (_: string, listener: typeof active) => {
    active = listener
  }
  reportTakes({ on }, backend, onTake)
  const asking = (backend as { moveToActive(token: string): Promise<unknown> }).moveToActive('t:0')
  const sentBefore = momentNow().monotonic
  reply([{}, 'e-1', 0, 0])
  await asking
  const job = { token: 't:0' } as EventJob
  active(job)
  expect(onTake.mock.lastCall![0]).toBe(job)
  expect(onTake.mock.lastCall![1].monotonic).toBeLessThanOrEqual(sentBefore)
  // A take of unknown age.
  active(job)
  expect(onTake.mock.lastCall![1].monotonic).toBe(Number.NEGATIVE_INFINITY)
})
