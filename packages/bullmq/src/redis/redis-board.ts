import type { InboxProcess, MinuteCount, PublishedHandlers } from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'
import {
  type EventBoard,
  type InboxView,
  KEEP_MINUTES_MS,
  type Postponement,
  STALE_MS,
} from '../engine/event-board.ts'
import { PAUSE_FIELD, readPause } from '../engine/queue-pause.ts'
import { RedisActivity } from './redis-activity.ts'
import { NOW } from './scripts.ts'

/** Expiry of the list if no process renews it, as after the last process of a service. */
const KEEP_POSTPONED_MS = 3_600_000
/** Overdue jobs that one publication checks. */
const SWEEP = 100

/**
 * Publishes a process and drops stale entries. A removal comes first: any command after it is allowed on a Redis
 * without free memory, on which a process must be able to start too.
 *
 * KEYS: processes by expiry, their published texts, postponed jobs by due time. ARGV: id, JSON, how long to keep it,
 * when a postponed job is stale, the prefix of the queue's keys, the first overdue job to check, and how many.
 * Returns the first one for the next publication, since a backlog may hold more overdue jobs.
 */
const PUBLISH = `${NOW}
redis.call('ZREM', KEYS[1], ARGV[1])
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now))) do
  redis.call('HDEL', KEYS[2], id)
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
redis.call('ZADD', KEYS[1], text(now + ARGV[3]), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
for i = 1, 2 do
  if redis.call('PTTL', KEYS[i]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[i], ARGV[3]) end
end
local overdue = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', text(now - ARGV[4]), 'LIMIT', ARGV[6], ARGV[7])
local kept = #overdue
for _, id in ipairs(overdue) do
  local data, finished = unpack(redis.call('HMGET', ARGV[5] .. id, 'data', 'finishedOn'))
  if not data or finished then kept = kept - redis.call('ZREM', KEYS[3], id) end
end
return #overdue < tonumber(ARGV[7]) and 0 or ARGV[6] + kept
`

/**
 * KEYS as for publishing, then BullMQ's own of the queue. Returns the number of postponed jobs, BullMQ's pause and our
 * record of it, then JSON and remaining milliseconds of each process.
 */
const READ = `${NOW}
local live = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. text(now), '+inf', 'WITHSCORES')
local paused, record = unpack(redis.call('HMGET', KEYS[4], 'paused', '${PAUSE_FIELD}'))
local found = { redis.call('ZCARD', KEYS[3]), paused, record }
if #live == 0 then return found end
local ids = {}
for i = 1, #live, 2 do ids[#ids + 1] = live[i] end
-- One command for all of them: each process asks twice a second.
local published = redis.call('HMGET', KEYS[2], unpack(ids))
for i = 1, #ids do
  if published[i] then
    found[#found + 1] = published[i]
    found[#found + 1] = text(live[i * 2] - now)
  end
end
return found
`

/** KEYS: postponed jobs, the job. ARGV: its id, its progress, the delay, how long to keep the list. */
const POSTPONE = `${NOW}
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then return end
redis.call('HSET', KEYS[2], 'progress', ARGV[2])
redis.call('ZADD', KEYS[1], text(now + ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
`

/** KEYS as for postponing. ARGV: the id of the job, its progress, its attempts. */
const ABANDON = `
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'progress', ARGV[2], 'atm', ARGV[3]) end
`

/**
 * The minute is by the process's clock. One that is ahead drops no minutes of others. KEYS: the counts. ARGV: the minute,
 * handled, dead-lettered, how long to keep them, received.
 */
const COUNT = `${NOW}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if tonumber(field:match('^%d+')) <= math.min(ARGV[1], now) - ARGV[4] then redis.call('HDEL', KEYS[1], field) end
end
redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':handled', ARGV[2])
redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':dead', ARGV[3])
redis.call('HINCRBY', KEYS[1], ARGV[1] .. ':received', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
`

/** The board, in five keys of the queue, each with an expiry. */
export class RedisBoard implements EventBoard {
  readonly activity: RedisActivity
  readonly #client: RedisConnectionClient
  readonly #keyOf: (name: string) => string
  readonly #keys: readonly string[]
  readonly #minutes: string
  /** BullMQ's own key of the queue's state. */
  readonly #meta: string
  /** Overdue jobs read so far, since the first one. */
  #swept = 0

  constructor(client: RedisConnectionClient, keyOf: (name: string) => string) {
    this.activity = new RedisActivity(client, keyOf('ackhook-activity'))
    this.#client = client
    this.#keyOf = keyOf
    this.#keys = ['ackhook-processes', 'ackhook-handlers', 'ackhook-postponed'].map(keyOf)
    this.#minutes = keyOf('ackhook-minutes')
    this.#meta = keyOf('meta')
  }

  async publish(own: PublishedHandlers): Promise<void> {
    const { id, keepMs } = own
    const sweep = [STALE_MS, this.#keyOf(''), this.#swept, SWEEP]
    this.#swept = Number(await this.#run(PUBLISH, this.#keys, [id, JSON.stringify(own), keepMs, ...sweep]))
  }

  async read(): Promise<InboxView> {
    const answer = await this.#run(READ, [...this.#keys, this.#meta], [])
    const [postponed, flag, record, ...found] = answer as [number, string | null, string | null, ...string[]]
    const { pause, isStale } = readPause(flag, record)
    if (isStale) void this.#client['hdel'](this.#meta, PAUSE_FIELD).catch(() => {})
    const processes: InboxProcess[] = []
    for (let i = 0; i < found.length; i += 2) {
      const published = JSON.parse(found[i]!) as PublishedHandlers
      processes.push({ ...published, seenMs: Math.max(0, published.keepMs - Number(found[i + 1])) })
    }
    return { processes, postponed: Number(postponed), pause }
  }

  async postpone(jobId: string, { delayMs, progress }: Postponement): Promise<void> {
    const keys = [this.#keys[2]!, this.#keyOf(jobId)]
    await this.#run(POSTPONE, keys, [jobId, progress, Math.ceil(delayMs), KEEP_POSTPONED_MS])
  }

  async abandon(jobId: string, attemptsMade: number, progress: string): Promise<void> {
    const keys = [this.#keys[2]!, this.#keyOf(jobId)]
    await this.#run(ABANDON, keys, [jobId, progress, attemptsMade - 1])
  }

  async resume(jobId: string): Promise<void> {
    await this.#client['zrem'](this.#keys[2]!, jobId)
  }

  async count({ startedAt, received, handled, deadLettered }: Required<MinuteCount>): Promise<void> {
    const args = [startedAt, handled, deadLettered, KEEP_MINUTES_MS, received]
    await this.#run(COUNT, [this.#minutes], args)
  }

  async minutes(): Promise<readonly MinuteCount[]> {
    const fields: string[] = await this.#client['hkeys'](this.#minutes)
    const starts = [...new Set(fields.map(field => Number.parseInt(field, 10)))].sort((a, b) => a - b)
    const after = Date.now() - KEEP_MINUTES_MS
    const kept = starts.filter(startedAt => startedAt > after)
    if (kept.length === 0) return []
    const wanted = kept.flatMap(startedAt =>
      ['handled', 'dead', 'received'].map(name => `${startedAt}:${name}`),
    )
    const values: (string | null)[] = await this.#client['hmget'](this.#minutes, ...wanted)
    return kept.map((startedAt, i) => ({
      startedAt,
      handled: Number(values[i * 3] ?? 0),
      deadLettered: Number(values[i * 3 + 1] ?? 0),
      received: Number(values[i * 3 + 2] ?? 0),
    }))
  }

  #run(script: string, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return this.#client['eval'](script, keys.length, ...keys, ...args)
  }
}
