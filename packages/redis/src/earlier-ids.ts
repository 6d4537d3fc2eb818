import type { RedisClient } from './redis-client.ts'

/** Keys that a start looks at: on a Redis of its own, each is an id. A start must not read a large Redis to its end. */
const ROUNDS = 10
const KEYS_PER_ROUND = '10000'
/** As long as the hash of an event, which ends each key. */
const ANY_KEY = '?'.repeat(22)

/** Returns whether some keys are those of a version from before the first release, on any of a Cluster's masters. */
export async function hasEarlierIds(client: RedisClient, prefix: string): Promise<boolean> {
  const masters = client.isCluster === true ? (client.nodes?.('master') ?? []) : []
  const pattern = escaped((client.options?.keyPrefix ?? '') + prefix) + ANY_KEY
  const servers = masters.length > 0 ? masters : [client]
  return (await Promise.all(servers.map(server => hasKey(server, pattern)))).includes(true)
}

async function hasKey(server: Pick<RedisClient, 'call'>, pattern: string): Promise<boolean> {
  let cursor = '0'
  for (let round = 0; round < ROUNDS; round++) {
    const reply = await server.call('scan', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_ROUND)
    const [next, keys] = reply as readonly [unknown, readonly unknown[]]
    if (keys.length > 0) return true
    cursor = String(next)
    if (cursor === '0') return false
  }
  return false
}

/** Escapes what a pattern of Redis gives a meaning. */
function escaped(text: string): string {
  return text.replace(/[*?[\]^\\]/g, '\\$&')
}
