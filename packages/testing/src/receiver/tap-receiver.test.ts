import { createReceiver } from '@ackhook/core'
import { expect, test, vi } from 'vitest'
import { signedRequest } from '../requests/signed-request.ts'
import { type TappedAttempt, tapReceiver } from './tap-receiver.ts'

const secret = 'whsec_0123456789abcdef'
const body = { id: 'evt_1', type: 'a.b', created_at: '2026-01-01T00:00:00Z', data: {} }
const logger = { info() {}, warn() {}, error() {} }

test('a tap sees each attempt, even through the copy of the receiver that an adapter makes', async () => {
  const seen: TappedAttempt[] = []
  const receiver = createReceiver({ secret, logger, retry: { attempts: 2, minDelay: '1ms' } })
  receiver.on('a.b', (_event, { attempt }) => {
    if (attempt === 1) throw new Error('once')
  })
  tapReceiver(
    Object.assign(() => {}, receiver),
    attempt => seen.push(attempt),
  )
  await receiver.handle(signedRequest(body, { secret }))
  await vi.waitFor(() => expect(seen.map(one => one.result.outcome)).toEqual(['retry', 'completed']))
  expect(seen[1]).toMatchObject({ id: 'evt_1', attempt: 2, matched: 1, event: body })
  await receiver.close()
})

test('a tap is refused once processing has started, and on anything but a receiver', async () => {
  const receiver = createReceiver({ secret, logger })
  await receiver.start()
  expect(() => tapReceiver(receiver, () => {})).toThrow(/after processing had started/)
  expect(() => tapReceiver({}, () => {})).toThrow(/createReceiver/)
})
