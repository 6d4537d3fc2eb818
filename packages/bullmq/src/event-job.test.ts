import { expect, test } from 'vitest'
import { createTokens, type EventJob, jobIdOf, toDelivery, toJobData } from './event-job.ts'

const delivery = {
  key: '0123456789',
  namespace: 'tenant',
  id: 'evt_1',
  type: 'call.started',
  body: new Uint8Array([9, 0, 255, 254, 10, 9]).subarray(1, 5),
  fingerprint: -7,
  receivedAt: 1_700_000_000_000,
}

test('a delivery comes back from its job as it was, from a part of a larger buffer too', () => {
  const data = toJobData(delivery, 'token')
  const job = { id: jobIdOf(delivery.key), name: delivery.type, data: JSON.parse(JSON.stringify(data)) }
  const { body, ...rest } = toDelivery(job as EventJob)
  expect([...body]).toEqual([0, 255, 254, 10])
  const { body: _, ...sent } = delivery
  expect(rest).toEqual(sent)
})

test.each([
  ['of another producer', { id: 'e-1', data: { hello: 'world' } }],
  ['without data', { id: 'e-1', data: undefined }],
  ['with an id of its own', { id: '17', data: toJobData(delivery, 'token') }],
])('a job %s is no delivery, and the error says so', (_, job) => {
  expect(() => toDelivery({ ...job, queueName: 'shared', name: 'x' } as EventJob)).toThrow(
    /queue 'shared'.*queue of its own/,
  )
})

test('no two deliveries have one token', () => {
  const [one, other] = [createTokens(), createTokens()]
  expect(new Set([one(), one(), other(), other()]).size).toBe(4)
})
