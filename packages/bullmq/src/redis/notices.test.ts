import { expect, test } from 'vitest'
import { redisNotices } from './notices.ts'

test('a Redis that keeps everything gives no notice', () => {
  expect(redisNotices('# Memory\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n')).toEqual([])
})

test('a Redis that says nothing of itself gives no notice', () => {
  expect(redisNotices('')).toEqual([])
})

test('eviction and a missing append-only file are told', () => {
  const notices = redisNotices('maxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n')
  expect(notices.map(({ code }) => code)).toEqual(['redis_evicts', 'redis_not_durable'])
  expect(notices[0]?.message).toContain('allkeys-lru')
})
