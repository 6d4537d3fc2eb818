import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { deferred, settle, storeThat } from '../../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../../test/support/receiving.ts'
import { memoryStore } from './memory-store.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('lets one replay of a handled event run', async () => {
  const { receiver, send } = watch({ namespace: 'eu' })
  const ran = vi.fn<() => void>()
  receiver.on('*', ran)
  await send()
  await settle()
  expect(await receiver.forget('evt_1')).toBe(false)
  expect(await send()).toMatchObject({ code: 'duplicate' })
  expect(await receiver.forget('evt_1', { namespace: 'eu' })).toBe(true)
  expect(await receiver.forget('evt_1', { namespace: 'eu' })).toBe(false)
  expect(await send()).toMatchObject({ code: 'accepted' })
  await settle()
  expect(await send()).toMatchObject({ code: 'duplicate' })
  expect(ran).toHaveBeenCalledTimes(2)
})

it('changes nothing for an event that waits, runs, is being recorded, or is dead', async () => {
  const recorded = deferred()
  const store = storeThat({
    async complete(...given) {
      await recorded.promise
      return inner.complete(...given)
    },
  })
  const { inner } = store
  const { receiver, send } = watch({ store, concurrency: 1, retry: { attempts: 1 } })
  const gate = deferred()
  receiver.on('*', ({ id }) => {
    if (id === 'dead') throw new Error('no')
    return gate.promise
  })
  for (const id of ['dead', 'runs', 'waits']) await send({ id })
  await settle()
  for (const id of ['dead', 'runs', 'waits']) expect(await receiver.forget(id)).toBe(false)
  gate.resolve()
  await settle()
  expect(await receiver.forget('runs')).toBe(false)
  recorded.resolve()
  await settle()
  expect(await receiver.deadLetters.list()).toHaveLength(1)
  expect(await receiver.forget('runs')).toBe(true)
})

it('works before the receiver has started, on a store that remembers', async () => {
  const store = memoryStore()
  const first = watch({ store })
  await first.send()
  await settle()
  expect(await watch({ store }).receiver.forget('evt_1')).toBe(true)
})
