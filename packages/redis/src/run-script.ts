import type { RedisClient } from './redis-client.ts'
import type { Script } from './scripts.ts'

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
