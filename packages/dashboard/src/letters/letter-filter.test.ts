import { type DeadLetterStore, letterGroup } from '@ackhook/core/spi'
import { expect, it } from 'vitest'
import { changeLetters, errorNameOf, matchesLetter } from './letter-filter.ts'

it.each([
  ['TypeError: x is undefined', 'TypeError'],
  ['crm.Timeout: 30 s', 'crm.Timeout'],
  ['TypeError', ''],
  ['it failed: because', ''],
  ['', ''],
])('reads the class of the error from a reason, %j', (reason, name) => {
  expect(errorNameOf(reason)).toBe(name)
})

it.each([
  [{}, true],
  [{ type: '*' }, true],
  [{ type: 'order.paid' }, true],
  [{ type: 'order.*' }, true],
  [{ type: 'order' }, false],
  [{ type: 'orders.*' }, false],
  [{ error: 'TypeError' }, true],
  [{ error: 'Error' }, false],
  [{ error: '' }, false],
  [{ type: 'order.*', error: 'RangeError' }, false],
  [{ group: letterGroup({ id: 'evt_2', type: 'order.paid', reason: 'TypeError: no use' }) }, true],
  [{ group: letterGroup({ id: 'evt_1', type: 'order.sent', reason: 'TypeError: no use' }) }, false],
])('whether %j matches an order.paid letter with a TypeError: %j', (filter, expected) => {
  expect(matchesLetter(filter, { id: 'evt_1', type: 'order.paid', reason: 'TypeError: no use' })).toBe(
    expected,
  )
})

it('changes letters one by one if an inbox cannot change many in one step', async () => {
  const redriven: string[] = []
  const store = {
    redrive: (key: string) => key !== 'gone' && redriven.push(key) > 0,
  } as unknown as DeadLetterStore
  expect(await changeLetters(store, 'redrive', ['a', 'gone', 'b'])).toEqual(['a', 'b'])
  expect(redriven).toEqual(['a', 'b'])
})
