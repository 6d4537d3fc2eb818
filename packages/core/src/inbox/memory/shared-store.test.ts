import { createReceiver, memoryStore } from '@ackhook/core'
import { expect, it, vi } from 'vitest'
import { eventBody, SECRET, signedRequest } from '../../../../../test/support/receiving.ts'

const quiet = { info() {}, warn() {}, error() {} }

it('answers a captured delivery of one tenant as a duplicate, however many events another tenant sends', async () => {
  const handled: string[] = []
  const receiver = createReceiver({
    secret: SECRET,
    store: memoryStore({ maxIds: 100 }),
    namespace: (tenant: string) => tenant,
    logger: quiet,
  })
  receiver.on('*', (event, { namespace }) => void handled.push(`${namespace} ${event.id}`))
  const deliver = (tenant: string, id: string) =>
    receiver.handle({ ...signedRequest(eventBody({ id })), context: tenant })
  const captured = { ...signedRequest(eventBody({ id: 'evt_pay' })), context: 'quiet' }
  expect((await receiver.handle(captured)).status).toBe(202)
  for (let i = 0; i < 1000; i++) expect((await deliver('busy', `evt_${i}`)).status).toBe(202)
  await vi.waitFor(() => expect(handled).toHaveLength(1001))
  expect((await receiver.handle(captured)).status).toBe(200)
  expect((await deliver('busy', 'evt_999')).status).toBe(200)
  // A tenant may still push out its own.
  expect((await deliver('busy', 'evt_0')).status).toBe(202)
  await receiver.close()
  expect(handled.filter(one => one.startsWith('quiet'))).toEqual(['quiet evt_pay'])
})
