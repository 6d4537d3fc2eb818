import { createHash } from 'node:crypto'
import { isError } from '@ackhook/core/spi'
import type { Commands } from './confirmed-by-replicas.ts'

/** A Lua script and the digest by which Redis identifies it. */
export interface Script {
  readonly name: 'claim' | 'extend' | 'complete' | 'release' | 'forget' | 'lookup'
  readonly lua: string
  readonly sha: string
  /** Number of values in the reply per key. */
  readonly width: number
}

/** Numbers in a script's reply for one key. */
export type Reply = readonly number[]

/** First number of the reply to a claim. */
export const OUTCOME = {
  /** The other numbers are the lapses and the attempts of earlier runs. */
  claimed: 0,
  /** The second number is the time left on the lease, in milliseconds. */
  inFlight: 1,
  /** The second number is the stored fingerprint. */
  completed: 2,
  /** Redis has no memory for another claim. */
  full: 3,
} as const

/** Marks the value of a leased key. */
const LEASED = 't'
/** Second character of a counted lease, and of a count without a lease. */
const COUNTED = '#'
const FREE = '-'

// The methods of a dedupe store. Redis runs a script as one atomic step.
//
// Values of a key
//   t<token>        leased to the owner of that token; expires with the key
//   t#<keep>:<lapses>:<attempts>:<token>
//                   the same for a counted run; the key outlives the lease by <keep> milliseconds
//   t-<lapses>:<attempts>
//                   free, with the count of earlier runs
//   <whole number>  handled; the number is the body's fingerprint. Redis stores a number in the object
//                   itself, and shares one object for equal numbers below 10,000: a remembered id then
//                   takes only its key.
//   none            free
//
// Each script accepts any number of keys, with a fixed number of arguments per key, and replies in key order, so that
// the calls of one tick share a command. Keys are independent; on Redis Cluster, each command has one. The scripts use
// only Redis' clock (PX, PTTL). Tokens are data and are never executed.

/** Functions that read the value of a key. */
const READ = `
local function isHandled(value) return value and string.byte(value) ~= ${LEASED.charCodeAt(0)} end
-- Returns the token of a live lease, or nil; the time left on it; the lapses and attempts of earlier runs.
local function leaseOf(key, value)
  if not value or isHandled(value) then return nil, 0, 0, 0 end
  local mark = string.sub(value, 2, 2)
  if mark == '${COUNTED}' then
    local keep, lapses, attempts, token = string.match(value, '^..(%d+):(%d+):(%d+):(.*)$')
    local left = redis.call('PTTL', key) - keep
    if left > 0 then return token, left, lapses, attempts end
    return nil, 0, lapses + 1, attempts
  elseif mark == '${FREE}' then
    local lapses, attempts = string.match(value, '^..(%d+):(%d+)$')
    return nil, 0, lapses, attempts
  end
  return string.sub(value, 2), redis.call('PTTL', key), 0, 0
end
local function isHeldBy(key, value, token)
  if value == '${LEASED}' .. token then return true end
  return value and string.sub(value, 2, 2) == '${COUNTED}' and leaseOf(key, value) == token
end`

/**
 * Arguments for each key: token, lease in milliseconds, and how many milliseconds to count the run for, or '0'. Replies
 * with an {@link OUTCOME} and its two numbers.
 */
export const CLAIM: Script = script(
  'claim',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local token, lease, keep = ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local value = redis.call('GET', key)
  local owner, left, lapses, attempts = leaseOf(key, value)
  local outcome, first, second = ${OUTCOME.claimed}, 0, 0
  if isHandled(value) then
    outcome, first = ${OUTCOME.completed}, tonumber(value)
  elseif owner and owner ~= token then
    -- My own token means that this command was sent twice because its first reply was lost.
    outcome, first = ${OUTCOME.inFlight}, left
  else
    local mine = '${LEASED}' .. token
    if keep ~= '0' then
      first, second = tonumber(lapses), tonumber(attempts)
      mine = '${LEASED}${COUNTED}' .. keep .. ':' .. first .. ':' .. second .. ':' .. token
    end
    local set = redis.pcall('SET', key, mine, 'PX', lease + keep)
    if set.err and not string.find(set.err, 'OOM', 1, true) then return set end
    if set.err then outcome, first, second = ${OUTCOME.full}, 0, 0 end
  end
  replies[i * 3 - 2], replies[i * 3 - 1], replies[i * 3] = outcome, first, second
end
return replies`,
  3,
)

/** Arguments for each key: token, lease in milliseconds. Replies with 1 for a renewed lease, 0 if the token has none. */
export const EXTEND: Script = script(
  'extend',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  replies[i] = 0
  if isHeldBy(key, value, ARGV[i * 2 - 1]) then
    local keep = string.match(value, '^.${COUNTED}(%d+)') or 0
    replies[i] = redis.call('PEXPIRE', key, ARGV[i * 2] + keep)
  end
end
return replies`,
)

/**
 * Arguments for each key: token, retention in milliseconds, fingerprint. Replies with 1 for a remembered key, 0 for one
 * leased to another owner. A free key is remembered: its event was handled.
 */
export const COMPLETE: Script = script(
  'complete',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local token, retention, fingerprint = ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local value = redis.call('GET', key)
  local owner = value ~= '${LEASED}' .. token and leaseOf(key, value)
  if owner and owner ~= token then
    replies[i] = 0
  else
    -- A full Redis checks for memory only until the first write of a script, and PEXPIRE takes none. So whatever
    -- has a key can be completed: an event that was handled must not run again because Redis became full meanwhile.
    if value then redis.call('PEXPIRE', key, retention) end
    redis.call('SET', key, fingerprint, 'PX', retention)
    replies[i] = 1
  end
end
return replies`,
)

/** Keeps the count that the claim found, for as long as the claim said. */
export const AS_CLAIMED = '*'

/**
 * Arguments for each key: token, the count to keep, an empty text or {@link AS_CLAIMED}, and for how many milliseconds.
 * Replies with 1 for a released lease, 0 if the token has none.
 */
export const RELEASE: Script = script(
  'release',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local token, count, keep = ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local value = redis.call('GET', key)
  local isHeld = isHeldBy(key, value, token)
  if isHeld and count == '${AS_CLAIMED}' then
    local ms, found = string.match(value, '^.${COUNTED}(%d+):(%d+:%d+):')
    count, keep = found or '', ms
  end
  if not isHeld then
    replies[i] = 0
  elseif count == '' then
    replies[i] = redis.call('DEL', key)
  else
    -- First, as in a completion: a full Redis must not keep a lease that has ended.
    redis.call('PEXPIRE', key, keep)
    redis.call('SET', key, '${LEASED}${FREE}' .. count, 'PX', keep)
    replies[i] = 1
  end
end
return replies`,
)

/** No arguments. Replies with 1 for a handled key, which becomes free, 0 for one that is leased or free. */
export const FORGET: Script = script(
  'forget',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  replies[i] = isHandled(value) and redis.call('DEL', key) or 0
end
return replies`,
)

/** No arguments. Replies with an {@link OUTCOME}, `claimed` for a free key, and the milliseconds left of a handled one. */
export const LOOKUP: Script = script(
  'lookup',
  `${READ}
local replies = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  local outcome, left = ${OUTCOME.claimed}, 0
  if isHandled(value) then
    outcome, left = ${OUTCOME.completed}, redis.call('PTTL', key)
  elseif leaseOf(key, value) then
    outcome = ${OUTCOME.inFlight}
  end
  replies[i * 2 - 1], replies[i * 2] = outcome, left
end
return replies`,
  2,
)

function script(name: Script['name'], lua: string, width = 1): Script {
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex'), width }
}

/** Returns a token as scripts know it: none begins like a count. */
export function tokenText(token: string): string {
  return /^[#\\-]/.test(token) ? `\\${token}` : token
}

/** Runs a script by its digest. If Redis has not loaded it, `EVAL` sends and loads the text. */
export async function runScript(
  client: Commands,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<Reply> {
  let reply: unknown
  try {
    reply = await client.evalsha(script.sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!isError(error) || !error.message.startsWith('NOSCRIPT')) throw error
    reply = await client.eval(script.lua, keys.length, ...keys, ...args)
  }
  return toReply(reply)
}

const CLAIMED: Reply = [OUTCOME.claimed, 0, 0]

/** Returns the numbers in a reply: of a script, or of the plain command that claims a single key. */
export function toReply(reply: unknown): Reply {
  if (reply === 'OK') return CLAIMED
  // Some clients are configured to return numbers as strings.
  return Array.isArray(reply) ? reply.map(Number) : []
}

/**
 * Claims a single key, first with a plain command: nearly every claim is for a new event. If the key is not free, or
 * Redis has no memory, the script decides. The command costs Redis a third as much as the script. perf: note 21.
 */
export async function claimSingleKey(client: Commands, key: string, args: readonly string[]): Promise<Reply> {
  const [token, lease, keep] = args as [string, string, string]
  const isCounted = keep !== '0'
  const value = isCounted ? `${LEASED}${COUNTED}${keep}:0:0:${token}` : LEASED + token
  const ttl = isCounted ? String(Number(lease) + Number(keep)) : lease
  try {
    const set = await client.call('set', key, value, 'PX', ttl, 'NX')
    if (set === 'OK') return toReply(set)
  } catch (error) {
    if (!isError(error) || !error.message.startsWith('OOM')) throw error
  }
  return runScript(client, CLAIM, [key], args)
}
