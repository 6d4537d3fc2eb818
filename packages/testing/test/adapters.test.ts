import { webhooks } from '@ackhook/express'
import { fakeClock, testReceiver } from '@ackhook/testing'
import { expect, test, vi } from 'vitest'

const secret = 'whsec_0123456789abcdef'
const logger = { info() {}, warn() {}, error() {} }

test("works with an adapter's receiver, and with a fake clock", async () => {
  const clock = fakeClock('2026-03-01T12:00:00Z')
  const hooks = webhooks({ secret, logger, clock })
  const handler = vi.fn()
  hooks.on('conversation.resolved', handler)
  const tested = testReceiver(hooks, { secret, clock })
  expect((await tested.deliver('conversation.resolved')).outcome).toBe('handled')
  expect(handler).toHaveBeenCalledOnce()
})
