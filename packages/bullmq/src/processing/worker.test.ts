import { afterEach, expect, test, vi } from 'vitest'
import { tellOutages } from './worker.ts'

afterEach(() => {
  vi.useRealTimers()
})

const GONE = new Error('connect ECONNREFUSED')

test('each error of an outage is told once, however long it lasts and often it is noticed', () => {
  vi.useFakeTimers()
  const observe = vi.fn()
  const { tell } = tellOutages(observe)
  const reset = new Error('read ECONNRESET')
  for (let second = 0; second < 60; second++) {
    tell(GONE)
    tell(reset)
    vi.advanceTimersByTime(1000)
  }
  expect(observe.mock.calls.flat()).toEqual(
    [GONE, reset].map(error => ({ kind: 'store_down', operation: 'work', error })),
  )
})

test.each([
  ['another error', (): void => {}, new Error('READONLY')],
  ['the same error after a quiet time', (): unknown => vi.advanceTimersByTime(10_000), GONE],
])('%s is told', (_, between, error) => {
  vi.useFakeTimers()
  const observe = vi.fn()
  const { tell } = tellOutages(observe)
  tell(GONE)
  between()
  tell(error)
  expect(observe).toHaveBeenCalledTimes(2)
})

test('the same error is told after the engine has answered', () => {
  const observe = vi.fn()
  const { tell, over } = tellOutages(observe)
  tell(GONE)
  over()
  tell(GONE)
  expect(observe).toHaveBeenCalledTimes(2)
})
