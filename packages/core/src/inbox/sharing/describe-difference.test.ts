import { expect, it } from 'vitest'
import type { PublishedHandlers } from '../presence.ts'
import { describeDifference } from './describe-difference.ts'

const where = { location: "queue 'webhooks'", namespace: 'eu' }
function published(patterns: readonly string[], onUnhandled = false): PublishedHandlers {
  return { id: 'i', process: 'p', version: '1', startedAt: 0, keepMs: 1, patterns, onUnhandled }
}

it('returns nothing if all handle the same types', () => {
  expect(describeDifference(published(['a', 'b']), [published(['b', 'a'])], where)).toBeUndefined()
  expect(describeDifference(published(['a']), [], where)).toBeUndefined()
})

it('names the difference, the queue and the namespace', () => {
  const text = describeDifference(published(['a.b', 'c.*'], true), [published(['a.b', '*'])], where)
  expect(text).toContain(
    "queue 'webhooks' handle different types: not all others handle 'c.*', 'onUnhandled', and this one does not handle '*'.",
  )
  expect(text).toContain("namespace 'eu'")
  expect(
    describeDifference(published([]), [published(['a'])], { location: undefined, namespace: () => '' }),
  ).toContain("on this inbox handle different types: this one does not handle 'a'. Events wait")
})

it('is short however many handlers there are, and however long their names', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `${index}${'x'.repeat(1000)}`)
  expect(describeDifference(published([]), [published(many)], where)?.length).toBeLessThan(1000)
})
