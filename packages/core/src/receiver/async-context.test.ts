import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it, vi } from 'vitest'
import { deferred } from '../../../../test/support/memory-inbox.ts'
import { watch } from '../../../../test/support/receiving.ts'
import { NonRetryableError } from '../errors/errors.ts'

const tenants = new AsyncLocalStorage<string>()

it('handlers and listeners run in the context in which the receiver was created, in every attempt', async () => {
  const seen: unknown[] = []
  const see = (what: string, id?: string) => seen.push([what, id, tenants.getStore()])
  const first = deferred()
  const { receiver, send } = tenants.run('app', () =>
    watch({ concurrency: 1, retry: { attempts: 2, minDelay: '1ms', maxDelay: '1ms' } }),
  )
  receiver.on('conversation.resolved', async event => {
    if (event.id === 'a') await first.promise
    see('handler', event.id)
    if (event.id === 'b') throw new Error('no')
  })
  receiver.onUnhandled(event => see('onUnhandled', event.id))
  receiver.onError((_, event) => see('onError', event?.id))
  receiver.onDeadLetter((_, event) => see('onDeadLetter', event?.id))
  await tenants.run('tenant a', () => send({ id: 'a' }))
  await tenants.run('tenant b', () => send({ id: 'b' }))
  await tenants.run('tenant c', () => send({ id: 'c', type: 'other' }))
  first.resolve()
  await vi.waitFor(() => expect(seen).toHaveLength(6))
  expect(seen.sort()).toEqual([
    ['handler', 'a', 'app'],
    ['handler', 'b', 'app'],
    ['handler', 'b', 'app'],
    ['onDeadLetter', 'b', 'app'],
    ['onError', 'b', 'app'],
    ['onUnhandled', 'c', 'app'],
  ])
})

it("with 'after-processing' a request keeps its own context, and a redrive has the receiver's", async () => {
  const seen: unknown[] = []
  const { receiver, send } = tenants.run('app', () =>
    watch({ concurrency: 1, acknowledge: 'after-processing' }),
  )
  receiver.on('*', event => {
    seen.push([event.id, tenants.getStore()])
    throw new NonRetryableError('never')
  })
  receiver.onDeadLetter((_, event) => void seen.push(['dead', event?.id, tenants.getStore()]))
  await Promise.all(['a', 'b', 'c'].map(id => tenants.run(`tenant ${id}`, () => send({ id }))))
  expect(seen).toEqual(
    ['a', 'b', 'c'].flatMap(id => [
      [id, `tenant ${id}`],
      ['dead', id, `tenant ${id}`],
    ]),
  )
  seen.length = 0
  await tenants.run('operator', () => receiver.deadLetters.redrive('b'))
  expect(seen).toEqual([
    ['b', 'app'],
    ['dead', 'b', 'app'],
  ])
})
