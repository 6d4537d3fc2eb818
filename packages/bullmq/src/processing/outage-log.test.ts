import { afterEach, expect, test, vi } from 'vitest'
import { OutageLog } from './outage-log.ts'

afterEach(() => {
  vi.useRealTimers()
})

const GONE = new Error('connect ECONNREFUSED')

function aLog() {
  const observe = vi.fn()
  return { observe, outages: new OutageLog(observe, 'work', { reasonOf: error => error }) }
}

test('each error of an outage is reported once, however long it lasts and however often it occurs', () => {
  vi.useFakeTimers()
  const { observe, outages } = aLog()
  const reset = new Error('read ECONNRESET')
  for (let second = 0; second < 60; second++) {
    outages.report(GONE)
    outages.report(reset)
    vi.advanceTimersByTime(1000)
  }
  expect(observe.mock.calls.flat()).toEqual(
    [GONE, reset].map(error => ({ kind: 'store_down', operation: 'work', error })),
  )
})

test.each([
  ['another error', (): void => {}, new Error('READONLY')],
  ['the same error after a quiet period', (): unknown => vi.advanceTimersByTime(10_000), GONE],
])('%s is reported', (_, between, error) => {
  vi.useFakeTimers()
  const { observe, outages } = aLog()
  outages.report(GONE)
  between()
  outages.report(error)
  expect(observe).toHaveBeenCalledTimes(2)
})

test('the same error is reported again after the engine has replied', () => {
  const { observe, outages } = aLog()
  outages.report(GONE)
  outages.reset()
  outages.report(GONE)
  expect(observe).toHaveBeenCalledTimes(2)
})
