import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { advance, deferred, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { eventBody, signedRequest, watch } from '../../../../../test/support/receiving.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('concurrency', () => {
  it('is sixteen by default', async () => {
    for (const [options, limit] of [
      [{}, 16],
      [{ concurrency: 3 }, 3],
    ] as const) {
      const { receiver, send } = watch(options)
      const gates: ReturnType<typeof deferred<void>>[] = []
      receiver.on('*', () => {
        const gate = deferred()
        gates.push(gate)
        return gate.promise
      })
      for (let i = 0; i < 20; i++) expect(await send({ id: `e${i}` })).toMatchObject({ status: 202 })
      await settle()
      expect(gates).toHaveLength(limit)
      expect(await receiver.stats()).toMatchObject({ active: limit, pending: 20 - limit })
      gates[0]?.resolve()
      await settle()
      expect(gates).toHaveLength(limit + 1)
      for (let turn = 0; turn < 20; turn++) {
        for (const gate of gates) gate.resolve()
        await settle()
      }
      expect(gates).toHaveLength(20)
    }
  })

  it('starts events in the order of arrival', async () => {
    const { receiver, send } = watch({ concurrency: 1 })
    const order: string[] = []
    receiver.on('*', event => void order.push(event.id))
    for (const id of ['c', 'a', 'b']) await send({ id })
    await settle()
    expect(order).toEqual(['c', 'a', 'b'])
  })
})

describe('serializeBy', () => {
  it('runs events of one key one at a time, oldest first, and others in parallel', async () => {
    const { receiver, send } = watch({ serializeBy: event => String(event.data['conversation_id']) })
    const gates = new Map<string, ReturnType<typeof deferred<void>>>()
    const order: string[] = []
    receiver.on('*', event => {
      order.push(event.id)
      const gate = deferred()
      gates.set(event.id, gate)
      return gate.promise
    })
    const at = (second: number) => `2026-01-01T00:00:0${second}Z`
    await send({ id: 'a1', created_at: at(1), data: { conversation_id: 'a' } })
    await settle()
    await send({ id: 'a3', created_at: at(3), data: { conversation_id: 'a' } })
    await send({ id: 'a2', created_at: at(2), data: { conversation_id: 'a' } })
    await send({ id: 'b1', created_at: at(9), data: { conversation_id: 'b' } })
    await settle()
    expect(order).toEqual(['a1', 'b1'])
    gates.get('a1')?.resolve()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'a2'])
    gates.get('a2')?.resolve()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  it('starts the next event of a key once a slow store has recorded the last one', async () => {
    const inner = memoryStore()
    const store = storeThat({
      complete: async (...given) => {
        await new Promise(resolve => setTimeout(resolve, 100))
        return inner.complete(...given)
      },
    })
    const { receiver, send } = watch({ store, serializeBy: () => 'k' })
    const order: string[] = []
    receiver.on('*', event => order.push(event.id))
    for (const id of ['a', 'b', 'c']) await send({ id })
    await settle()
    expect(order).toEqual(['a'])
    await advance(100)
    expect(order).toEqual(['a', 'b'])
    await advance(100)
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('keeps the turn until handlers that ignore their signal have ended, the event’s own retry included', async () => {
    const { receiver, send } = watch({
      serializeBy: () => 'k',
      handlerTimeout: '1s',
      retry: { minDelay: '1s', maxDelay: '1s', attempts: 2 },
    })
    const steps: string[] = []
    receiver.on('*', async ({ id }) => {
      steps.push(`+${id}`)
      await new Promise(resolve => setTimeout(resolve, 5000))
      steps.push(`-${id}`)
    })
    for (const id of ['1', '2']) await send({ id })
    for (let second = 0; second < 30; second++) await advance(1000)
    expect(steps).toEqual(['+1', '-1', '+1', '-1', '+2', '-2', '+2', '-2'])
  })

  it('does not make events of one namespace wait for those of another', async () => {
    const namespaces: string[] = []
    const { receiver } = watch({
      namespace: (context: unknown) => String(context),
      serializeBy: (_, { namespace }) => {
        namespaces.push(namespace)
        return 'k'
      },
    })
    const order: string[] = []
    receiver.on('*', ({ id }, { namespace }) => {
      order.push(`${namespace} ${id}`)
      return namespace === 'a' ? new Promise(() => {}) : undefined
    })
    for (const [namespace, id] of [
      ['a', '1'],
      ['a', '2'],
      ['b', '1'],
    ] as const)
      await receiver.handle({ ...signedRequest(eventBody({ id })), context: namespace as never })
    await settle()
    expect(order).toEqual(['a 1', 'b 1'])
    expect(namespaces).toEqual(['a', 'a', 'b'])
  })

  it('does not let another event overtake one that waits for its retry', async () => {
    const { receiver, send } = watch({
      serializeBy: () => 'k',
      retry: { minDelay: '10s', maxDelay: '10s', attempts: 2 },
    })
    const order: string[] = []
    receiver.on('*', (event, { attempt }) => {
      order.push(`${event.id}${attempt}`)
      if (event.id === 'a') throw new Error('no')
    })
    await send({ id: 'a' })
    await send({ id: 'b' })
    await settle()
    expect(order).toEqual(['a1'])
    await advance(10_000)
    expect(order).toEqual(['a1', 'a2', 'b1'])
  })
})
