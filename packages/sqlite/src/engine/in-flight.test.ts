import type { Delivery } from '@ackhook/core'
import { expect, it } from 'vitest'
import { InFlight } from './in-flight.ts'

const named = (...ids: string[]) => ids.map(id => ({ id }) as Delivery)

it('finds each delivery by its ref while its batch is under way, whichever batch ends first', () => {
  const inFlight = new InFlight()
  const first = inFlight.add(named('a', 'b'))
  const second = inFlight.add(named('c'))
  const third = inFlight.add(named('d', 'e'))
  inFlight.remove(second)
  expect(inFlight.get(first)?.id).toBe('a')
  expect(inFlight.get(first + 1)?.id).toBe('b')
  expect(inFlight.get(second)).toBeUndefined()
  expect(inFlight.get(third + 1)?.id).toBe('e')
})

it('never uses a ref twice: a late result must not refer to another event', () => {
  const inFlight = new InFlight()
  const first = inFlight.add(named('a'))
  inFlight.remove(first)
  const second = inFlight.add(named('b'))
  expect(second).not.toBe(first)
  expect(inFlight.get(first)).toBeUndefined()
  expect(inFlight.get(second)?.id).toBe('b')
})

it('does not confuse a batch without deliveries with the next one', () => {
  const inFlight = new InFlight()
  const none = inFlight.add([])
  const one = inFlight.add(named('a'))
  inFlight.remove(none)
  expect(inFlight.get(none)).toBeUndefined()
  expect(inFlight.get(one)?.id).toBe('a')
})
