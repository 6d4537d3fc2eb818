import { expect, it } from 'vitest'
import { ChangeFeed } from './change-feed.ts'

it('bounds its notices by length, and reports a gap to clients that missed more', () => {
  const feed = new ChangeFeed(() => undefined)
  const seen: string[] = []
  const stop = feed.watch(({ id }) => void seen.push(id))
  const start = feed.lastId
  for (let n = 0; n < 200; n++) feed.publish('message', { text: 'x'.repeat(100_000) })
  expect(seen).toHaveLength(200)
  expect(feed.since(start)).toBe('gap')
  const kept = seen.filter(id => feed.since(id) !== 'gap').length
  expect(kept).toBeGreaterThan(30)
  expect(kept * 100_000).toBeLessThan(9_000_000)
  stop()
})
