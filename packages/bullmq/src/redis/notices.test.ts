import { expect, test } from 'vitest'
import { redisNotices } from './notices.ts'

const ASKED = { sentAt: 1_700_000_000_000, answeredAt: 1_700_000_000_001 }

test('no notice for a Redis that keeps everything', () => {
  expect(redisNotices('# Memory\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n', ASKED)).toEqual([])
})

test('no notice for a Redis that reports no settings', () => {
  expect(redisNotices('', ASKED)).toEqual([])
})

test('keys that were evicted are counted', () => {
  const [notice] = redisNotices(
    'maxmemory_policy:allkeys-lru\r\naof_enabled:1\r\nevicted_keys:7929\r\n',
    ASKED,
  )
  expect(notice?.message).toContain('dropped 7929 keys')
  expect(redisNotices('maxmemory_policy:noeviction\r\nevicted_keys:7929\r\n', ASKED)).toEqual([])
})

test('a notice each for eviction and for a missing append-only file', () => {
  const notices = redisNotices('maxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n', ASKED)
  expect(notices.map(({ code }) => code)).toEqual(['redis_evicts', 'redis_not_durable'])
  expect(notices[0]?.message).toContain('allkeys-lru')
})

test('a notice for a clock that differs', () => {
  const notices = redisNotices('server_time_usec:1700000030000000\r\nmaxmemory_policy:noeviction\r\n', ASKED)
  expect(notices.map(({ code }) => code)).toEqual(['clock_differs'])
  expect(redisNotices('server_time_usec:1700000000000500\r\n', ASKED)).toEqual([])
})
