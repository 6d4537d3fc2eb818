import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { describeError, partsOf, RetryAfterError } from './errors.ts'
import { isError } from './is-error.ts'
import { kindOf } from './kind-of.ts'

const elsewhere = (code: string) => runInNewContext(code) as unknown

it('recognizes an error of another realm', () => {
  const foreign = elsewhere("new TypeError('no')")
  expect(foreign instanceof Error).toBe(false)
  expect([isError(foreign), isError(new TypeError('no')), isError(new DOMException('no'))]).toEqual([
    true,
    true,
    true,
  ])
  expect([isError({ message: 'no' }), isError('no'), isError(null)]).toEqual([false, false, false])
  expect(describeError(foreign)).toBe('TypeError: no')
})

it('reads the parts of an AggregateError of another realm', () => {
  expect(partsOf(elsewhere('new AggregateError([1, 2])'))).toEqual([1, 2])
})

it('reads a Date of another realm', () => {
  const date = elsewhere('new Date(Date.now() + 60000)') as Date
  expect(new RetryAfterError('wait', date).delayMs).toBeGreaterThan(50_000)
})

it('names the kind of a value of another realm, and none for a revoked proxy', () => {
  expect(kindOf(elsewhere('new Uint8Array(1)'))).toBe('Uint8Array')
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect([kindOf(proxy), isError(proxy)]).toEqual(['', false])
})
