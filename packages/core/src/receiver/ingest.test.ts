import { expect, it, vi } from 'vitest'
import { eventBody, SECRET, watch } from '../../../../test/support/receiving.ts'
import { activityName, activityQuery } from '../inbox/activity.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { createReceiver } from './create-receiver.ts'

const source = 'list-call'

function receiving(options: Parameters<typeof watch>[0] = {}) {
  const watched = watch(options)
  const handled = vi.fn()
  watched.receiver.on('*', handled)
  const event = (id = 'evt_1', fields = {}) => JSON.parse(eventBody({ id, ...fields })) as object
  return { ...watched, handled, event }
}

it('handles an event that no request brought as a delivery, once, whichever of the two comes first', async () => {
  const { receiver, handled, event, send, logger } = receiving()
  expect(await receiver.ingest(event('evt_1'), { source })).toEqual({
    outcome: 'accepted',
    id: 'evt_1',
    type: 'conversation.resolved',
    namespace: '',
  })
  expect(await receiver.ingest(event('evt_1'), { source })).toMatchObject({ outcome: 'duplicate' })
  expect((await send({ id: 'evt_1' })).code).toBe('duplicate')
  expect((await send({ id: 'evt_2' })).code).toBe('accepted')
  expect(await receiver.ingest(event('evt_2', { added: 1 }), { source })).toMatchObject({
    outcome: 'duplicate',
  })
  await receiver.close()
  expect(handled.mock.calls.map(([{ id }]) => id)).toEqual(['evt_1', 'evt_2'])
  // The bytes of a list differ from those of a delivery.
  expect(logger.lines.filter(({ message }) => message.includes('different bytes'))).toEqual([])
})

it('takes the exact bytes of an event too', async () => {
  const { receiver, handled } = receiving()
  const bytes = new TextEncoder().encode(eventBody({ id: 'evt_bytes' }))
  expect(await receiver.ingest(bytes, { source })).toMatchObject({ outcome: 'accepted', id: 'evt_bytes' })
  await receiver.close()
  expect(handled).toHaveBeenCalledTimes(1)
})

it('is counted apart from deliveries, so that a repair does not pass for one', async () => {
  const inbox = memoryInbox()
  const { receiver, event, send } = receiving({ inbox })
  await receiver.ingest(event('evt_1'), { source })
  await receiver.ingest(event('evt_1'), { source })
  await send({ id: 'evt_2' })
  await receiver.close()
  const [slot] = (await inbox.activity?.read(activityQuery('1h', Date.now()))) ?? []
  const type = 'conversation.resolved'
  expect(slot?.counts).toMatchObject({
    [activityName('accepted', type)]: 2,
    [activityName('ingested', type)]: 1,
  })
})

it('leaves a dead letter as it is', async () => {
  const { receiver, event } = receiving({ retry: { attempts: 1 } })
  const failing = vi.fn(() => Promise.reject(new Error('no')))
  receiver.on('conversation.resolved', failing)
  await receiver.ingest(event(), { source })
  await vi.waitFor(async () => expect(await receiver.deadLetters.list()).toHaveLength(1))
  expect(await receiver.ingest(event(), { source })).toMatchObject({ outcome: 'dead', id: 'evt_1' })
  expect(failing).toHaveBeenCalledTimes(1)
})

it('returns a refusal, and stores nothing, for what a delivery would be refused for', async () => {
  const upcast = (event: { readonly data: unknown }) => {
    if (event.data === null) throw new Error('no data')
    return event as never
  }
  const { receiver, event, handled } = receiving({
    body: { limit: 1000 },
    capacityBytes: 1000,
    contract: { upcast },
  })
  const ingest = (value: object) => receiver.ingest(value, { source })
  expect(await ingest({ id: 1 })).toMatchObject({ outcome: 'refused', code: 'envelope_invalid', status: 400 })
  expect(await ingest(new Uint8Array([123]))).toMatchObject({ code: 'json_invalid' })
  expect(await ingest(event('a', { data: { text: 'x'.repeat(1000) } }))).toMatchObject({
    code: 'body_too_large',
  })
  await receiver.close()
  expect(await ingest(event('b'))).toMatchObject({ outcome: 'refused', code: 'draining', status: 503 })
  expect(handled).not.toHaveBeenCalled()
})

it('waits for the handlers with after-processing', async () => {
  const { receiver, event, handled } = receiving({ acknowledge: 'after-processing' })
  expect(await receiver.ingest(event(), { source })).toMatchObject({ outcome: 'processed' })
  handled.mockRejectedValueOnce(new Error('no'))
  expect(await receiver.ingest(event('evt_2'), { source })).toMatchObject({ code: 'handler_failed' })
})

it('is observed with its source, and counts neither as a request nor as a sign of the sender', async () => {
  const { receiver, event, seen } = receiving({ expectEvery: '1h' })
  await receiver.ingest(event(), { source })
  await receiver.ingest({}, { source, namespace: 'acme' })
  await receiver.close()
  expect(seen).toMatchObject([
    { kind: 'ingested', source, code: 'accepted', id: 'evt_1', type: 'conversation.resolved', namespace: '' },
    { kind: 'ingested', source, code: 'envelope_invalid', id: '', namespace: 'acme' },
    { kind: 'attempt_started' },
    { kind: 'completed' },
  ])
})

it('keeps namespaces apart, and asks for one that only a request would tell', async () => {
  const { receiver, event } = receiving({ namespace: () => 'acme' })
  await expect(receiver.ingest(event(), { source })).rejects.toThrow(/Option 'namespace'/)
  expect(await receiver.ingest(event(), { source, namespace: 'acme' })).toMatchObject({
    outcome: 'accepted',
    namespace: 'acme',
  })
  expect(await receiver.ingest(event(), { source, namespace: 'other' })).toMatchObject({
    outcome: 'accepted',
  })
})

it.each([
  [{}, {}, /Option 'source'/],
  [{}, { source: '' }, /Option 'source'/],
  [{}, { source, from: 1 }, /'from'/],
  ['{}', { source }, /Option 'event'/],
  [null, { source }, /Option 'event'/],
  [new Float64Array(3), { source }, /Option 'event'/],
])('rejects wrong arguments: %j, %j', async (event, options, message) => {
  const receiver = createReceiver({ secret: SECRET })
  await expect(receiver.ingest(event as never, options as never)).rejects.toThrow(message)
})
