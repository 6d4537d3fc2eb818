import { createHash } from 'node:crypto'
import type { RedisClient } from './redis-client.ts'

/** One Lua script and the digest that Redis knows it by. */
export interface Script {
  readonly name: 'claim' | 'extend' | 'complete' | 'release'
  readonly lua: string
  readonly sha: string
  /** Numbers it answers for each key. */
  readonly width: number
}

// The four verbs of a dedupe store. Redis runs a script as one atomic step.
//
// What a key holds
//   t<token>        leased to the owner of that token; lapses by the key's own expiry
//   <whole number>  handled; the number is the fingerprint of the body. Redis keeps a number in the object
//                   itself, and shares one object for all equal numbers below 10,000: a remembered id is
//                   then nothing but its key.
//   nothing         free
//
// Each script takes any number of keys and a fixed number of arguments for each, and answers in their order:
// calls of one tick travel in one command. No key depends on another; on Redis Cluster there is one at a time.
// The only clock is that of Redis (PX, PTTL). A token in these scripts is data and is never executed.

/**
 * Arguments for each key: token, lease in milliseconds. Answers two numbers for each key: 0 0 claimed, 1 and
 * the milliseconds left when somebody else holds the lease, 2 and the fingerprint when it is handled, 3 0
 * when Redis has no memory for another claim.
 */
export const CLAIM: Script = script(
  'claim',
  `
local answers = {}
for i, key in ipairs(KEYS) do
  local mine = 't' .. ARGV[i * 2 - 1]
  local value = redis.call('GET', key)
  -- My own token means that this command was sent twice because its first reply was lost.
  if not value or value == mine then
    local set = redis.pcall('SET', key, mine, 'PX', ARGV[i * 2])
    if not set.err then
      answers[i * 2 - 1], answers[i * 2] = 0, 0
    elseif string.find(set.err, 'OOM', 1, true) then
      answers[i * 2 - 1], answers[i * 2] = 3, 0
    else
      return set
    end
  elseif string.byte(value) == 116 then -- t
    answers[i * 2 - 1], answers[i * 2] = 1, redis.call('PTTL', key)
  else
    answers[i * 2 - 1], answers[i * 2] = 2, tonumber(value)
  end
end
return answers`,
  2,
)

/** Arguments for each key: token, lease in milliseconds. Answers 1 for each lease renewed, 0 for one not mine. */
export const EXTEND: Script = script(
  'extend',
  `
local answers = {}
for i, key in ipairs(KEYS) do
  local mine, lease = 't' .. ARGV[i * 2 - 1], ARGV[i * 2]
  answers[i] = redis.call('GET', key) == mine and redis.call('PEXPIRE', key, lease) or 0
end
return answers`,
)

/**
 * Arguments for each key: token, retention in milliseconds, fingerprint. Answers 1 for each key remembered, 0
 * for one that somebody else has leased. A key that nobody holds is remembered: its event was handled.
 */
export const COMPLETE: Script = script(
  'complete',
  `
local answers = {}
for i, key in ipairs(KEYS) do
  local mine, retention, fingerprint = 't' .. ARGV[i * 3 - 2], ARGV[i * 3 - 1], ARGV[i * 3]
  local value = redis.call('GET', key)
  if value and value ~= mine and string.sub(value, 1, 1) == 't' then
    answers[i] = 0
  else
    redis.call('SET', key, fingerprint, 'PX', retention)
    answers[i] = 1
  end
end
return answers`,
)

/** Arguments for each key: token. Answers 1 for each lease given back, 0 for one not mine. */
export const RELEASE: Script = script(
  'release',
  `
local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = redis.call('GET', key) == 't' .. ARGV[i] and redis.call('DEL', key) or 0
end
return answers`,
)

function script(name: Script['name'], lua: string, width = 1): Script {
  return { name, lua, sha: createHash('sha1').update(lua).digest('hex'), width }
}

/** Runs a script by its digest. `EVAL` sends the text and loads it, where Redis does not know the digest yet. */
export async function runScript(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<readonly number[]> {
  let answer: unknown
  try {
    answer = await client.evalsha(script.sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    answer = await client.eval(script.lua, keys.length, ...keys, ...args)
  }
  // A client may have been told to answer numbers as text.
  return (answer as readonly unknown[]).map(Number)
}

const CLAIMED = [0, 0] as const

/**
 * What the claim script does for one key, at first with the plain command: nearly every claim is of an event
 * that nobody has seen, and the command takes a third of the script's time in Redis (2.8 and 8.7 µs on 7.0).
 * When the key is not free, or Redis has no memory, the script decides.
 */
export async function claimAlone(
  client: RedisClient,
  key: string,
  args: readonly string[],
): Promise<readonly number[]> {
  const [token, lease] = args as [string, string]
  try {
    const set = await client.call('set', key, `t${token}`, 'PX', lease, 'NX')
    if (set === 'OK') return CLAIMED
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('OOM')) throw error
  }
  return runScript(client, CLAIM, [key], args)
}
