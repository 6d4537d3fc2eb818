import { MAX_AGE_MS } from '../engine/engine.ts'
import { OWNER_LENGTH } from '../engine/lock-token.ts'
import { PAUSE_FIELD } from '../engine/queue-pause.ts'

/** Redis' own clock, in milliseconds. */
export const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
`

/** KEYS: any of the queue, whose server is asked. */
export const READ_CLOCK: string = `${NOW} return text(now)`

/**
 * Reads the fields that outlive a job's body from the beginning of its data. An edit in a dashboard may have moved
 * them, and another producer's job lacks them.
 */
const HEAD_OF = `
local function headOf(data)
  local token, fingerprint, retention = data:match('^{"token":"([^"]*)","fingerprint":(-?%d+),"retentionMs":(%d+),')
  if token then return token, fingerprint, retention end
  local ok, parsed = pcall(cjson.decode, data)
  if not ok or type(parsed) ~= 'table' or type(parsed.token) ~= 'string' then return nil end
  if type(parsed.fingerprint) ~= 'number' or type(parsed.retentionMs) ~= 'number' then return nil end
  return parsed.token, string.format('%.0f', parsed.fingerprint), string.format('%.0f', parsed.retentionMs)
end
`

/**
 * Returns the token and fingerprint of each job or remembered id, whether it is a dead letter, and whether it exists.
 * In one step: a dead letter that is discarded between two calls would look like a handled event.
 *
 * KEYS: the failed jobs, then the jobs. ARGV: the ids of the jobs.
 */
export const LOOK_UP: string = `${HEAD_OF}
local found = {}
for i, id in ipairs(ARGV) do
  local data, token, fingerprint = unpack(redis.call('HMGET', KEYS[i + 1], 'data', 'token', 'fingerprint'))
  if data then token, fingerprint = headOf(data) end
  local dead, exists = redis.call('ZSCORE', KEYS[1], id) and 1 or 0, redis.call('EXISTS', KEYS[i + 1])
  found[i] = { token or false, fingerprint or false, dead, exists }
end
return found
`

/**
 * Returns the time at which a remembered event was handled, and the milliseconds for which its id is remembered. KEYS: the
 * job.
 */
export const REMEMBERED = `
local data, token, at = unpack(redis.call('HMGET', KEYS[1], 'data', 'token', 'at'))
if data or not token then return nil end
return { at, redis.call('PTTL', KEYS[1]) }
`

/**
 * Replaces handled jobs by their ids: a hash takes the place of the job's, in the same step, so that BullMQ's add still
 * finds the id known. It is a new hash, because one that was large stays large. Redis forgets it when its retention
 * ends, by its own clock. The job is deleted before anything is written, which a Redis without free memory then allows.
 *
 * A round also ends after a number of bytes, because Redis serves no other client meanwhile. A process that replaced
 * jobs has the next turn for two seconds: rounds of several processes would add up.
 *
 * The time at which a job was handled is by its worker's clock. One from a clock that is ahead would keep its body
 * until then, so what was handled in the future counts as old.
 *
 * KEYS: the handled jobs, the process that has the turn. ARGV: the prefix of the queue's keys, how long ago they were
 * handled, the number of jobs and of bytes, the process, and 1 to ignore the turn. Returns the number of jobs.
 */
export const PRUNE: string = `${HEAD_OF}${NOW}
local handled = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', text(now - ARGV[2]), 'WITHSCORES', 'LIMIT', 0, ARGV[3])
if #handled == 0 then
  handled = redis.call('ZRANGEBYSCORE', KEYS[1], text(now + ${MAX_AGE_MS}), '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
end
if #handled == 0 then return 0 end
local turn = redis.call('GET', KEYS[2])
if turn and turn ~= ARGV[5] and ARGV[6] ~= '1' then return 0 end
local bytes, removed = tonumber(ARGV[4]), 0
for i = 1, #handled, 2 do
  local id = handled[i]
  local key = ARGV[1] .. id
  bytes = bytes - redis.call('HSTRLEN', key, 'data')
  local data = redis.call('HGET', key, 'data')
  local token, fingerprint, retention = headOf(data or '')
  if token or not data then
    removed = removed + redis.call('ZREM', KEYS[1], id)
  end
  if token then
    redis.call('DEL', key, key .. ':logs')
    -- The age is by two clocks: a wrong one must not end a retention.
    local age = math.max(0, math.min(now - handled[i + 1], ${MAX_AGE_MS}))
    local left = math.floor(retention - age)
    if left > 0 then
      redis.call('HSET', key, 'token', token, 'fingerprint', fingerprint, 'at', handled[i + 1])
      redis.call('PEXPIRE', key, string.format('%.0f', left))
    end
  end
  if bytes < 0 then break end
end
-- Jobs of another producer stay.
if removed == 0 then return 0 end
-- After a removal even a Redis without free memory allows this.
redis.pcall('SET', KEYS[2], ARGV[5], 'PX', 2000)
return bytes < 0 and tonumber(ARGV[3]) or #handled / 2
`

/** Ends a series of crashes: removes the last member of the progress that `formatProgress` writes. */
const FORGET_BEGUN = `
local function forgetBegun(job)
  local progress = redis.call('HGET', job, 'progress')
  if progress then redis.call('HSET', job, 'progress', (progress:gsub(',?"begun":%b{}', ''))) end
end
`

/**
 * Moves a dead letter back to the waiting jobs, with fresh counts of attempts and stalls, its routing token unchanged,
 * and the name and data of a redelivery if there is one. In one step: between BullMQ's `updateData` and `retry`, a
 * second delivery with other bytes could overwrite the bytes that were just acknowledged.
 *
 * Queue and job have no priority and no parent. The marker wakes a worker, which checks by itself whether the queue is
 * paused.
 *
 * KEYS: the failed jobs, the job, the waiting jobs, the marker, the events of the queue. ARGV: the id of the job, the
 * start of its wait; optionally its new name and data.
 */
export const REQUEUE: string = `${FORGET_BEGUN}
if redis.call('EXISTS', KEYS[2]) == 0 or redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'timestamp', ARGV[2])
if ARGV[3] then redis.call('HSET', KEYS[2], 'name', ARGV[3], 'data', ARGV[4]) end
redis.call('HDEL', KEYS[2], 'finishedOn', 'processedOn', 'failedReason', 'atm', 'ats', 'stc')
forgetBegun(KEYS[2])
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('ZADD', KEYS[4], 0, '0')
redis.call('XADD', KEYS[5], 'MAXLEN', '~', 10000, '*', 'event', 'waiting', 'jobId', ARGV[1], 'prev', 'failed')
return 1
`

/**
 * Removes a job if it is a dead letter. In one step: BullMQ's own `remove` accepts any job without a lock, even one
 * that a redelivery has just requeued.
 *
 * KEYS: the failed jobs, the job, its log, the events of the queue. ARGV: the id of the job.
 */
export const DISCARD = `
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('XADD', KEYS[4], '*', 'event', 'removed', 'jobId', ARGV[1], 'prev', 'failed')
return 1
`

/**
 * Removes a job that waits. KEYS: the waiting, paused, delayed and prioritized jobs, the job, its log, the events of the
 * queue. ARGV: the id of the job.
 */
export const ERASE = `
local removed = redis.call('LREM', KEYS[1], 0, ARGV[1]) + redis.call('LREM', KEYS[2], 0, ARGV[1])
  + redis.call('ZREM', KEYS[3], ARGV[1]) + redis.call('ZREM', KEYS[4], ARGV[1])
if removed == 0 then return 0 end
redis.call('DEL', KEYS[5], KEYS[6])
redis.call('XADD', KEYS[7], '*', 'event', 'removed', 'jobId', ARGV[1], 'prev', 'waiting')
return 1
`

/**
 * Removes the oldest dead letters that failed before a time. A job that is requeued meanwhile is in this set no longer.
 *
 * KEYS: the failed jobs, the events of the queue. ARGV: the prefix of the queue's keys, the time, the number of jobs.
 */
export const DISCARD_OLDER = `
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do
  redis.call('ZREM', KEYS[1], id)
  redis.call('DEL', ARGV[1] .. id, ARGV[1] .. id .. ':logs')
  redis.call('XADD', KEYS[2], '*', 'event', 'removed', 'jobId', id, 'prev', 'failed')
end
return #ids
`

/**
 * Forgets a handled event: its job, or the hash that has replaced it.
 *
 * KEYS: the handled jobs, the job, its log. ARGV: the id of the job.
 */
export const FORGET = `
local wasHandled = redis.call('ZREM', KEYS[1], ARGV[1]) == 1
if not wasHandled then
  local data, token = unpack(redis.call('HMGET', KEYS[2], 'data', 'token'))
  wasHandled = token and not data
end
if not wasHandled then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
return 1
`

/**
 * Counts waiting, running and dead events. Also returns the acceptance time of the oldest unfinished event, and the
 * failure of one that waits for another attempt. The oldest are at the end of the lists. Delayed jobs are ordered by
 * due time: the oldest has the most attempts behind it, and so the longest delay, and is among the last.
 *
 * KEYS: the waiting, paused, delayed, prioritized, running and failed jobs. ARGV: the prefix of the queue's keys, and
 * how many of each to look at.
 */
export const READ_COUNTS = `
local sampled = {}
local untried = {}
local function sample(ids, isReady)
  for _, id in ipairs(ids) do
    local job = redis.call('HMGET', ARGV[1] .. id, 'timestamp', 'ats')
    if job[1] then sampled[#sampled + 1] = job[1] end
    if job[1] and isReady and not job[2] then untried[#untried + 1] = job[1] end
  end
end
sample(redis.call('LRANGE', KEYS[1], -ARGV[2], -1), true)
sample(redis.call('LRANGE', KEYS[2], -ARGV[2], -1), true)
sample(redis.call('LRANGE', KEYS[5], -ARGV[2], -1))
sample(redis.call('ZREVRANGE', KEYS[3], 0, ARGV[2] - 1))
-- With similar delays, the jobs that are due next failed most recently.
local failure = false
for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, ARGV[2] - 1)) do
  failure = failure or redis.call('HGET', ARGV[1] .. id, 'failedReason')
end
local pending = redis.call('LLEN', KEYS[1]) + redis.call('LLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4])
return { pending, redis.call('LLEN', KEYS[5]), redis.call('ZCARD', KEYS[6]), sampled, failure, redis.call('ZCARD', KEYS[3]), untried }
`

/**
 * Renews locks as BullMQ does, but with PEXPIRE instead of SET: a Redis without free memory refuses SET, and running
 * events would lose their locks. KEYS: the possibly stalled jobs. ARGV: the prefix of the queue's keys, milliseconds,
 * then pairs of a job's id and token. Returns the ids of the jobs that are no longer locked with their token.
 */
export const EXTEND_LOCKS = `
local lost = {}
for i = 3, #ARGV, 2 do
  local lock = ARGV[1] .. ARGV[i] .. ':lock'
  if redis.call('GET', lock) == ARGV[i + 1] then
    redis.call('PEXPIRE', lock, ARGV[2])
    redis.call('SREM', KEYS[1], ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
`

/**
 * Stores the progress of a job that is locked with this token, and renews the lock. The renewal comes first: a Redis
 * without free memory then allows the rest. KEYS: the job, its lock. ARGV: the token, the progress, milliseconds.
 */
export const RECORD_BEGIN = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[1], 'progress', ARGV[2])
return 1
`

/** Ends a series of crashes. KEYS: the job. */
export const RESET_CRASH_COUNT: string = `${FORGET_BEGUN}
redis.call('HDEL', KEYS[1], 'stc')
forgetBegun(KEYS[1])
`

/**
 * Locks a job again for its attempt. Checks in the same step that no other attempt has begun since: a job that waits,
 * because its lock has expired, may be taken at any time. BullMQ returns such a job to the end of the list,
 * where LREM begins. A full Redis checks for memory until the first write, and LREM needs none.
 *
 * KEYS: the job, its lock, the running jobs, the waiting jobs. ARGV: the id of the job, the token, milliseconds, number
 * of attempts begun, begin of the last one, number ended before it, stall count. Returns a `Relocked`.
 */
export const RELOCK: string = `
local begun, at, ended = unpack(redis.call('HMGET', KEYS[1], 'ats', 'processedOn', 'atm'))
if not begun then return 'gone' end
local holder = redis.call('GET', KEYS[2]) or ARGV[2]
if holder ~= ARGV[2] and holder:sub(1, ${OWNER_LENGTH}) == ARGV[2]:sub(1, ${OWNER_LENGTH}) then return 'own' end
if begun ~= ARGV[4] or at ~= ARGV[5] or holder ~= ARGV[2] then return 'taken' end
if tonumber(ended or 0) > tonumber(ARGV[6]) then return 'recorded' end
if redis.call('LREM', KEYS[3], 1, ARGV[1]) == 0 and redis.call('LREM', KEYS[4], -1, ARGV[1]) == 0 then
  return 'recorded'
end
redis.call('LPUSH', KEYS[3], ARGV[1])
redis.call('HSET', KEYS[1], 'stc', ARGV[7])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 'relocked'
`

/**
 * Finds the job locked with this token. KEYS: the active jobs. ARGV: the prefix of the queue's keys, a token. Returns
 * the job.
 */
export const LOCKED_WITH = `
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if redis.call('GET', ARGV[1] .. id .. ':lock') == ARGV[2] then return id end
end
`

/**
 * Lets a worker take events from a Redis without free memory. BullMQ's script begins with a command that such a Redis
 * refuses, unless a delayed job is due: the script removes that job first, and commands after a removal are allowed. So
 * this makes the next waiting job due. A worker that has taken one job takes the next as it completes it.
 *
 * KEYS: the waiting jobs, the delayed jobs. ARGV: the time now.
 */
export const MAKE_NEXT_DUE = `
local id = redis.call('RPOP', KEYS[1])
if id then redis.call('ZADD', KEYS[2], ARGV[1] * 0x1000, id) end
`

/**
 * Sets a mark that exists as long as the server's data. KEYS: the mark. ARGV: a new one, in case there is none. Returns
 * the current mark; nothing on a Redis without free memory.
 */
export const MARK = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.pcall('SET', KEYS[1], ARGV[1]) end
return redis.call('GET', KEYS[1])
`

/**
 * Pauses as BullMQ's own script does, and records the pause as ours, in one step. One that was made elsewhere becomes ours,
 * and keeps its time. KEYS: the queue's meta, its marker, its events. ARGV: now. Returns 1 if it was not paused.
 */
export const PAUSE: string = `
local flag, record = unpack(redis.call('HMGET', KEYS[1], 'paused', '${PAUSE_FIELD}'))
local since = flag and record and (record:match('^own (%d+)$') or record:match('^seen (%d+)$')) or ARGV[1]
redis.call('HSET', KEYS[1], 'paused', 1, '${PAUSE_FIELD}', 'own ' .. since)
if flag then return 0 end
redis.call('DEL', KEYS[2])
redis.call('XADD', KEYS[3], '*', 'event', 'paused')
return 1
`
