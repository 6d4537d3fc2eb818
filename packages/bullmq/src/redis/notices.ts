import type { StoreNotice } from '@ackhook/core/spi'
import { type AskedBetween, clockNotice } from '../engine/clock-notice.ts'

/**
 * Finds settings in `INFO` under which Redis may lose acknowledged events, and a clock that differs from this
 * process's.
 */
export function redisNotices(info: string, asked: AskedBetween): readonly StoreNotice[] {
  const notices: StoreNotice[] = []
  const policy = field(info, 'maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') {
    const evicted = Number(field(info, 'evicted_keys') ?? 0)
    const danger =
      evicted > 0
        ? `it has dropped ${evicted} keys since it started, perhaps acknowledged events among them`
        : 'it may drop acknowledged events'
    notices.push({
      code: 'redis_evicts',
      message: `Redis has maxmemory-policy ${policy}: ${danger}. Set it to noeviction.`,
    })
  }
  if (field(info, 'aof_enabled') === '0') {
    notices.push({
      code: 'redis_not_durable',
      message:
        'Redis has no append-only file: if Redis crashes, acknowledged events are lost. Set appendonly yes, and appendfsync always if none may be lost.',
    })
  }
  return [...notices, ...clockNotice('Redis', Number(field(info, 'server_time_usec')) / 1000, asked)]
}

/** Reports that data was lost: to FLUSHALL or FLUSHDB, or to a restart or failover to a server without it. */
export function redisEmptied(queue: string): StoreNotice {
  return {
    code: 'redis_emptied',
    message: `Redis has lost all data of queue '${queue}' since this process started: waiting events, dead letters and remembered ids are gone, and redelivered events run again. Find out who emptied it, or whether it restarted without its file.`,
  }
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1]
}
