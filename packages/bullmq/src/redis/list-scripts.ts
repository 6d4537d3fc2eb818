import { JOB_BYTES } from '../engine/job-list.ts'

/** Lists jobs in scripts, because an application may change how ioredis transforms other replies. */
const READ_JOB = `
local prefix, withBodies = ARGV[1], ARGV[2] == '1'
local function sizeOf(id)
  local key = prefix .. id
  return redis.call('HSTRLEN', key, 'data') + redis.call('HSTRLEN', key, 'failedReason') + ${JOB_BYTES}
end
-- Cuts the body from the text as this package wrote it. Parses data that somebody has changed.
local function withoutBody(data)
  local at = data:find(',"body":"', 1, true)
  if at then return data:sub(1, at) .. '"body":""}' end
  local ok, head = pcall(cjson.decode, data)
  if not ok or type(head) ~= 'table' then return '' end
  if type(head.body) == 'string' then head.body = '' end
  ok, head = pcall(cjson.encode, head)
  return ok and #head < 65536 and head or ''
end
local function read(id, at)
  local fields = redis.call('HMGET', prefix .. id, 'name', 'data', 'atm', 'failedReason', 'finishedOn', 'timestamp')
  if fields[2] and not withBodies then fields[2] = withoutBody(fields[2]) end
  return { id, at, unpack(fields) }
end
`

/**
 * Returns the first dead letters after a place that fit. KEYS: the failed jobs. ARGV: the prefix of the queue's keys, 1
 * for bodies, the order, the place (two empty texts for the beginning), how many, how many bytes, and how many the
 * first may have, empty for any number. Returns the dead letters, the number of places read, and the last of these, if
 * there was one.
 */
export const LIST_DEAD: string = `${READ_JOB}
local isNewest, at, after, most, slice, first = ARGV[3] == 'newest', ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local range = isNewest and 'ZREVRANGEBYSCORE' or 'ZRANGEBYSCORE'
local places = {}
if at ~= '' then
  -- Dead letters of the same millisecond are ordered by the bytes of their ids.
  for _, id in ipairs(redis.call(range, KEYS[1], at, at)) do
    local isAfter
    if isNewest then isAfter = id < after else isAfter = id > after end
    if isAfter then places[#places + 1] = { id, at } end
  end
end
if #places < most then
  local from, to = isNewest and '+inf' or '-inf', isNewest and '-inf' or '+inf'
  if at ~= '' then from = '(' .. at end
  local scored = redis.call(range, KEYS[1], from, to, 'WITHSCORES', 'LIMIT', 0, most - #places)
  for i = 1, #scored, 2 do places[#places + 1] = { scored[i], scored[i + 1] } end
end
local found, bytes, looked = {}, 0, 0
for _, place in ipairs(places) do
  local size = sizeOf(place[1])
  local fits = bytes + size <= slice or (#found == 0 and (not first or size <= first))
  if #found == most or not fits then break end
  local job = read(place[1], place[2])
  looked = looked + 1
  -- A job that was added again after Redis had lost it is waiting, and is in this list by mistake.
  if job[7] or not job[8] then
    bytes = bytes + size
    found[#found + 1] = job
  end
end
local last = places[looked] or { false, false }
return { found, looked, last[2], last[1] }
`

/**
 * Returns jobs by their ids, as many of the first as fit. KEYS: the running jobs, for a cluster. ARGV: the prefix of
 * the queue's keys, 1 for bodies, how many bytes, the ids.
 */
export const READ_JOBS: string = `${READ_JOB}
local found, bytes = {}, 0
for i = 4, #ARGV do
  bytes = bytes + sizeOf(ARGV[i])
  if #found > 0 and bytes > tonumber(ARGV[3]) then break end
  found[#found + 1] = read(ARGV[i], false)
end
return found
`

/**
 * Returns one job and its state. A job in no other state is waiting: searching a long list for it would take Redis
 * long. KEYS: the failed, handled and running jobs. ARGV: the prefix of the queue's keys, 1 for its body, the id.
 */
export const FIND_JOB: string = `${READ_JOB}
local id = ARGV[3]
local died = redis.call('ZSCORE', KEYS[1], id)
if not died and redis.call('HEXISTS', prefix .. id, 'timestamp') == 0 then return nil end
local state = 'pending'
if died then
  state = 'dead'
elseif redis.call('ZSCORE', KEYS[2], id) then
  state = 'handled'
else
  for _, running in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
    if running == id then state = 'active' end
  end
end
local found = read(id, died or false)
found[9] = redis.call('HGET', prefix .. id, 'stacktrace')
return { state, unpack(found, 1, 9) }
`
