import { expect, test } from 'vitest'
import { Breaker } from './breaker.ts'

function breakerAt(start = 0) {
  const time = { now: start }
  return { time, breaker: new Breaker(() => time.now) }
}

test('lets every call through while calls succeed', () => {
  const { time, breaker } = breakerAt()
  for (let i = 0; i < 10; i++) {
    time.now++
    breaker.enter()!.succeeded()
  }
  expect(breaker.enter()).toBeDefined()
})

test('opens at the first failure and keeps its cause', () => {
  const { breaker } = breakerAt()
  breaker.enter()!.failed('gone')
  expect(breaker.enter()).toBeUndefined()
  expect(breaker.cause).toBe('gone')
})

test('stays closed if the server has replied since the failed call was sent', () => {
  const { time, breaker } = breakerAt()
  const slow = breaker.enter()!
  time.now = 900
  breaker.enter()!.succeeded()
  time.now = 1000
  slow.failed('late')
  expect(breaker.enter()).toBeDefined()
})

test('lets one call through after a pause, and the others once that one has succeeded', () => {
  const { time, breaker } = breakerAt()
  breaker.enter()!.failed('gone')
  time.now = 99
  expect(breaker.enter()).toBeUndefined()
  time.now = 100
  const probe = breaker.enter()!
  expect(breaker.enter()).toBeUndefined()
  probe.succeeded()
  expect(breaker.enter()).toBeDefined()
  expect(breaker.enter()).toBeDefined()
})

test('doubles the pause after each failed probe, up to a second', () => {
  const { time, breaker } = breakerAt()
  breaker.enter()!.failed('gone')
  const rests: number[] = []
  for (let i = 0; i < 6; i++) {
    const since = time.now
    let probe = breaker.enter()
    while (probe === undefined) {
      time.now += 50
      probe = breaker.enter()
    }
    rests.push(time.now - since)
    probe.failed('still gone')
  }
  expect(rests).toEqual([100, 200, 400, 800, 1000, 1000])
})

test('does not lengthen the pause for failed calls sent before it opened', () => {
  const { time, breaker } = breakerAt()
  const earlier = [breaker.enter()!, breaker.enter()!, breaker.enter()!]
  for (const call of earlier) call.failed('gone')
  time.now = 100
  expect(breaker.enter()).toBeDefined()
})

test('closes immediately on a reply after the timeout', () => {
  const { time, breaker } = breakerAt()
  const stalled = breaker.enter()!
  time.now = 1000
  stalled.failed('deadline')
  expect(breaker.enter()).toBeUndefined()
  time.now = 1010
  stalled.succeeded()
  expect(breaker.enter()).toBeDefined()
})
