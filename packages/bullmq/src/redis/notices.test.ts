import { expect, test } from 'vitest'
import { redisNotices } from './notices.ts'

test('no notice for a Redis that keeps everything', () => {
  expect(redisNotices('# Memory\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n')).toEqual([])
})

test('no notice for a Redis that reports no settings', () => {
  expect(redisNotices('')).toEqual([])
})

test('keys that were evicted are counted', () => {
  const [notice] = redisNotices('maxmemory_policy:allkeys-lru\r\naof_enabled:1\r\nevicted_keys:7929\r\n')
  expect(notice?.message).toContain('dropped 7929 keys')
  expect(redisNotices('maxmemory_policy:noeviction\r\nevicted_keys:7929\r\n')).toEqual([])
})

test('a notice each for eviction and for a missing append-only file', () => {
  const notices = redisNotices('maxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n')
  expect(notices.map(({ code }) => code)).toEqual(['redis_evicts', 'redis_not_durable'])
  expect(notices[0]?.message).toContain('allkeys-lru')
})
