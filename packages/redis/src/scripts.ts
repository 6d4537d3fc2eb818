import { createHash } from 'node:crypto'
import { isError } from '@ackhook/core/spi'
import type { RedisClient } from './redis-client.ts'

/** A Lua script and the digest by which Redis identifies it. */
export interface Script {
  readonly name: 'claim' | 'extend' | 'complete' | 'release' | 'forget'
  readonly lua: string
  readonly sha: string
  /** Number of values in the reply per key. */
  readonly width: number
}

/** Numbers in a script's reply for one key. */
export type Reply = readonly number[]

/** First number of the reply to a claim. */
export const OUTCOME = {
  claimed: 0,
  /** The second number is the time left on the lease, in milliseconds. */
  inFlight: 1,
  /** The second number is the fingerprint. */
  completed: 2,
  /** Redis has no memory for another claim. */
  full: 3,
} as const

/** Marks the value of a leased key. */
const LEASED = 't'
const IS_LEASED = `string.byte(value) == ${LEASED.charCodeAt(0)}`

// The methods of a dedupe store. Redis runs a script as one atomic step.
//
// Values of a key
//   t<token>        leased to the owner of that token; expires with the key
//   <whole number>  handled; the number is the body's fingerprint. Redis stores a number in the object
//                   itself, and shares one object for equal numbers below 10,000: a remembered id then
//                   takes only its key.
//   none            free
//
// Each script accepts any number of keys, with a fixed number of arguments per key, and replies in key order, so that
// the calls of one tick share a command. Keys are independent; on Redis Cluster, each command has one. The scripts use
// only Redis' clock (PX, PTTL). Tokens are data and are never executed.

/** Arguments for each key: token, lease in milliseconds. Replies with an {@link OUTCOME} and its number. */
export const CLAIM: Script = script(
  'claim',
  `
local replies = {}
for i, key in ipairs(KEYS) do
  local mine = '${LEASED}' .. ARGV[i * 2 - 1]
  local value = redis.call('GET', key)
  local outcome, detail
  -- My own token means that this command was sent twice because its first reply was lost.
  if not value or value == mine then
    local set = redis.pcall('SET', key, mine, 'PX', ARGV[i * 2])
    if not set.err then
      outcome, detail = ${OUTCOME.claimed}, 0
    elseif string.find(set.err, 'OOM', 1, true) then
      outcome, detail = ${OUTCOME.full}, 0
    else
      return set
    end
  elseif ${IS_LEASED} then
    outcome, detail = ${OUTCOME.inFlight}, redis.call('PTTL', key)
  else
    outcome, detail = ${OUTCOME.completed}, tonumber(value)
  end
  replies[i * 2 - 1], replies[i * 2] = outcome, detail
end
return replies`,
  2,
)

/** Arguments for each key: token, lease in milliseconds. Replies with 1 for a renewed lease, 0 if the token has none. */
export const EXTEND: Script = script(
  'extend',
  `
local replies = {}
for i, key in ipairs(KEYS) do
  local mine, lease = '${LEASED}' .. ARGV[i * 2 - 1], ARGV[i * 2]
  replies[i] = redis.call('GET', key) == mine and redis.call('PEXPIRE', key, lease) or 0
end
return replies`,
)

/**
 * Arguments for each key: token, retention in milliseconds, fingerprint. Replies with 1 for a remembered key, 0 for one
 * leased to another owner. A free key is remembered: its event was handled.
 */
export const COMPLETE: Script = script(
  'complete',
  `
local replies = {}
for i, key in ipairs(KEYS) do
  local mine, retention, fingerprint = '${LEASED}' .. ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local value = redis.call('GET', key)
  if value and value ~= mine and ${IS_LEASED} then
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

/** Arguments for each key: token. Replies with 1 for a released lease, 0 if the token has none. */
export const RELEASE: Script = script(
  'release',
  `
local replies = {}
for i, key in ipairs(KEYS) do
  replies[i] = redis.call('GET', key) == '${LEASED}' .. ARGV[i] and redis.call('DEL', key) or 0
end
return replies`,
)

/** No arguments. Replies with 1 for a handled key, which becomes free, 0 for one that is leased or free. */
export const FORGET: Script = script(
  'forget',
  `
local replies = {}
for i, key in ipairs(KEYS) do
  local value = redis.call('GET', key)
  replies[i] = value and not (${IS_LEASED}) and redis.call('DEL', key) or 0
end
return replies`,
)

function script(name: Script['name'], lua: string, width = 1): Script {
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex'), width }
}

/** Runs a script by its digest. If Redis has not loaded it, `EVAL` sends and loads the text. */
export async function runScript(
  client: RedisClient,
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
  // Some clients are configured to return numbers as strings.
  return (reply as readonly unknown[]).map(Number)
}

const CLAIMED: Reply = [OUTCOME.claimed, 0]

/**
 * Claims a single key, first with a plain command: nearly every claim is for a new event. If the key is not free, or
 * Redis has no memory, the script decides. The command costs Redis a third as much as the script. perf: note 21.
 */
export async function claimSingleKey(
  client: RedisClient,
  key: string,
  args: readonly string[],
): Promise<Reply> {
  const [token, lease] = args as [string, string]
  try {
    const set = await client.call('set', key, LEASED + token, 'PX', lease, 'NX')
    if (set === 'OK') return CLAIMED
  } catch (error) {
    if (!isError(error) || !error.message.startsWith('OOM')) throw error
  }
  return runScript(client, CLAIM, [key], args)
}
