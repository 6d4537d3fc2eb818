import { expect, it } from 'vitest'
import { ChangeFeed } from './change-feed.ts'

it('keeps what was published by its length as well, and tells who missed the rest of the gap', () => {
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
