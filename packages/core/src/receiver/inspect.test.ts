import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { eventBody, signedRequest, watch } from '../../../../test/support/receiving.ts'
import type { UncheckedEvent } from '../events/contract.ts'
import { memoryInbox } from '../inbox/memory/memory-inbox.ts'
import { inspectReceiver } from './inspect.ts'

it('a subscriber receives all later observations, also after the start, until it unsubscribes', async () => {
  const { receiver, send, seen } = watch()
  await send({ id: 'evt_before' })
  await vi.waitFor(() => expect(seen.at(-1)?.kind).toBe('completed'))
  const late: string[] = []
  const leave = receiver.subscribe(one => 'id' in one && late.push(`${one.kind} ${one.id}`))
  await send({ id: 'evt_between' })
  await vi.waitFor(() => expect(late).toContain('completed evt_between'))
  leave()
  await send({ id: 'evt_after' })
  await vi.waitFor(() => expect(seen.at(-1)).toMatchObject({ kind: 'completed', id: 'evt_after' }))
  expect(late).toEqual(
    ['accepted', 'attempt_started', 'unhandled', 'completed'].map(kind => `${kind} evt_between`),
  )
})

it('a tool finds the inbox of a receiver, and can report to its observers', () => {
  const inbox = memoryInbox()
  const { receiver, seen } = watch({ inbox })
  const inspected = inspectReceiver(receiver)
  expect(inspected.inbox).toBe(inbox)
  inspected.observe({ kind: 'redriven', id: 'evt_1', type: 'a.b', namespace: '', by: 'anna' })
  expect(seen).toEqual([{ kind: 'redriven', id: 'evt_1', type: 'a.b', namespace: '', by: 'anna' }])
})

it('a tap sees each genuine delivery as parsed, until it is removed, and what it throws changes nothing', async () => {
  const upcast = (event: UncheckedEvent) => ({ ...event, data: {} })
  const events = { 'conversation.resolved': z.object({ conversation_id: z.number() }) }
  const { receiver, send, logger } = watch({ events, contract: { upcast } })
  const values: unknown[] = []
  const remove = inspectReceiver(receiver).tapDeliveries(({ value, type }) => {
    expect(type).toBe('conversation.resolved')
    values.push(value)
    throw new Error('of a tool')
  })
  const { status } = await send({ id: 'evt_1', data: { a: 1 } })
  expect(values).toEqual([JSON.parse(eventBody({ id: 'evt_1', data: { a: 1 } }))])
  expect(status).toBe(422)
  expect(logger.lines.map(line => line.message)).toContain('A delivery tap threw.')
  await receiver.handle(signedRequest(eventBody(), { secret: 'whsec_another_0123456789' }))
  await receiver.ingest(JSON.parse(eventBody({ id: 'evt_2' })), { source: 'file' })
  remove()
  await send({ id: 'evt_3' })
  expect(values).toHaveLength(1)
})

it('a tool cannot inspect an object that createReceiver did not make', () => {
  expect(() => inspectReceiver({})).toThrow(/receiver/)
})
