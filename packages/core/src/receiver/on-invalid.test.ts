import type { StandardSchemaV1 } from '@standard-schema/spec'
import { expect, it, vi } from 'vitest'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import { createReceiver } from './create-receiver.ts'

/** Schema that can be mended while the receiver runs, as a new version of the application would. */
function mendable() {
  let isMended = false
  const schema: StandardSchemaV1 = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: value => (isMended ? { value } : { issues: [{ message: 'no', path: ['conversation_id'] }] }),
    },
  }
  return { schema, mend: () => (isMended = true) }
}

function receiving(options: Parameters<typeof watch>[0] = {}) {
  const { schema, mend } = mendable()
  const watched = watch({ events: { 'conversation.resolved': schema }, onInvalid: 'dead-letter', ...options })
  const handled = vi.fn()
  watched.receiver.on('*', handled)
  return { ...watched, handled, mend }
}

it('refuses an event that its schema does not accept, unless told otherwise', async () => {
  const { receiver, send, handled } = receiving({ onInvalid: 'refuse' })
  expect(await send()).toMatchObject({ status: 422, code: 'event_invalid' })
  expect(await receiver.deadLetters.list()).toEqual([])
  expect(handled).not.toHaveBeenCalled()
})

it('acknowledges such an event, runs no handler, keeps it as a dead letter, and runs it once after the fix', async () => {
  const { receiver, send, handled, mend, seen } = receiving()
  const died = vi.fn()
  receiver.onDeadLetter(died)
  expect(await send()).toMatchObject({ status: 202, code: 'accepted' })
  await vi.waitFor(async () => expect(await receiver.deadLetters.list()).toHaveLength(1))
  expect(handled).not.toHaveBeenCalled()
  expect(died).toHaveBeenCalledTimes(1)
  expect(died.mock.calls[0]?.[0]).toMatchObject({
    attempt: 1,
    error: { code: 'non_retryable', message: expect.stringContaining('conversation_id') },
    delivery: { id: 'evt_1', type: 'conversation.resolved' },
  })
  expect(seen.filter(({ kind }) => kind === 'attempt_failed')).toEqual([])
  mend()
  expect(await receiver.deadLetters.redrive('evt_1')).toBe(true)
  await vi.waitFor(() => expect(handled).toHaveBeenCalledTimes(1))
  expect(await receiver.deadLetters.list()).toEqual([])
  expect(await send()).toMatchObject({ status: 200, code: 'duplicate' })
})

it('keeps an event whose upcast throws in the same way', async () => {
  const upcast = () => {
    throw new TypeError('no field contact')
  }
  const { receiver, send } = receiving({ events: {}, contract: { upcast } })
  expect(await send()).toMatchObject({ status: 202 })
  await vi.waitFor(async () => expect(await receiver.deadLetters.list()).toHaveLength(1))
})

it('still refuses what is no event, and what is forged', async () => {
  const { receiver } = receiving()
  const refusals = [
    signedRequest('not JSON'),
    signedRequest('{"id":1}'),
    signedRequest(eventBody(), { secret: 'whsec_another_0123456789' }),
  ]
  const replies = await Promise.all(refusals.map(request => receiver.handle(request)))
  expect(replies.map(({ status }) => status)).toEqual([400, 400, 401])
  expect(await receiver.deadLetters.list()).toEqual([])
})

it('leaves an event with its sender after processing, unless onDeadLetter takes it', async () => {
  const { receiver, send } = receiving({ acknowledge: 'after-processing' })
  expect(await send()).toMatchObject({ status: 500, code: 'handler_failed' })
  const taking = receiving({ acknowledge: 'after-processing' })
  taking.receiver.onDeadLetter(() => {})
  expect(await taking.send()).toMatchObject({ status: 200, code: 'dead_lettered' })
  await receiver.close()
})

it('refuses another word', () => {
  const secret = 'whsec_test_0123456789abcdef'
  expect(() => createReceiver({ secret, onInvalid: 'ignore' as never })).toThrow(/Option 'onInvalid'/)
})
