import {
  ACTIVITY_WINDOWS,
  type ActivityQuery,
  type ActivitySlot,
  type CountedSlot,
  MAX_SLOT_BYTES,
} from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'
import type { ActivityBoard } from '../engine/event-board.ts'
import { NOW } from './scripts.ts'

/**
 * Adds counts to those of their slots, and drops slots that are over when a new one begins, by the earlier of two clocks:
 * that of the process, and the server's. One that is ahead drops no figures of others.
 *
 * KEYS: the slots, by length and start. ARGV: how long to keep them without a change, the most bytes of a slot, then of
 * each slot its length, its start, the start of the oldest one to keep, and its counts as JSON.
 */
const ADD = `${NOW}
for i = 3, #ARGV, 4 do
  local length, startedAt, added = ARGV[i], ARGV[i + 1], ARGV[i + 3]
  local kept = math.min(ARGV[i + 2], now - (startedAt - ARGV[i + 2]))
  local field = length .. ':' .. startedAt
  local known = redis.call('HGET', KEYS[1], field)
  if known then
    local sums = cjson.decode(known)
    for name, value in pairs(cjson.decode(added)) do sums[name] = (sums[name] or 0) + value end
    added = cjson.encode(sums)
  else
    for _, other in ipairs(redis.call('HKEYS', KEYS[1])) do
      local otherLength, begun = other:match('^(%d+):(%d+)$')
      if otherLength == length and tonumber(begun) < kept then redis.call('HDEL', KEYS[1], other) end
    end
  end
  if #added <= tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], field, added) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`
const { lengthMs, slots } = ACTIVITY_WINDOWS['7d']
const KEPT_MS = lengthMs * (slots + 1)

/** Figures, in one hash with an expiry. */
export class RedisActivity implements ActivityBoard {
  readonly #client: RedisConnectionClient
  readonly #key: string

  constructor(client: RedisConnectionClient, key: string) {
    this.#client = client
    this.#key = key
  }

  async add(counted: readonly CountedSlot[]): Promise<void> {
    const args = counted.flatMap(slot => [
      slot.lengthMs,
      slot.startedAt,
      slot.keptSince,
      JSON.stringify(slot.counts),
    ])
    await this.#client['eval'](ADD, 1, this.#key, KEPT_MS, MAX_SLOT_BYTES, ...args)
  }

  async read({ lengthMs, since }: ActivityQuery): Promise<readonly ActivitySlot[]> {
    const fields: string[] = await this.#client['hkeys'](this.#key)
    const starts = fields
      .map(field => field.split(':').map(Number))
      .filter(([length, startedAt = 0]) => length === lengthMs && startedAt >= since)
      .map(([, startedAt = 0]) => startedAt)
      .sort((a, b) => a - b)
    if (starts.length === 0) return []
    const names = starts.map(startedAt => `${lengthMs}:${startedAt}`)
    const texts: (string | null)[] = await this.#client['hmget'](this.#key, ...names)
    return starts.flatMap((startedAt, i) => {
      const text = texts[i] ?? undefined
      if (text === undefined) return []
      return [{ startedAt, lengthMs, counts: JSON.parse(text) as ActivitySlot['counts'] }]
    })
  }
}
