import type { Delivery } from '@ackhook/core'
import { expect, it } from 'vitest'
import { createArriving } from './in-flight.ts'

const named = (...ids: string[]) => ids.map(id => ({ id }) as Delivery)

it('finds each delivery by its ref while its message is under way, whichever message ends first', () => {
  const arriving = createArriving()
  const first = arriving.add(named('a', 'b'))
  const second = arriving.add(named('c'))
  const third = arriving.add(named('d', 'e'))
  arriving.remove(second)
  expect(arriving.get(first)?.id).toBe('a')
  expect(arriving.get(first + 1)?.id).toBe('b')
  expect(arriving.get(second)).toBeUndefined()
  expect(arriving.get(third + 1)?.id).toBe('e')
})

it('never gives a ref twice: a late answer must not be about another event', () => {
  const arriving = createArriving()
  const first = arriving.add(named('a'))
  arriving.remove(first)
  const second = arriving.add(named('b'))
  expect(second).not.toBe(first)
  expect(arriving.get(first)).toBeUndefined()
  expect(arriving.get(second)?.id).toBe('b')
})

it('does not take a message without deliveries for the one after it', () => {
  const arriving = createArriving()
  const none = arriving.add([])
  const one = arriving.add(named('a'))
  arriving.remove(none)
  expect(arriving.get(none)).toBeUndefined()
  expect(arriving.get(one)?.id).toBe('a')
})
