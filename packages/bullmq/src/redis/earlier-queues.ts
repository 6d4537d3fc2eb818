import { earlierVersion } from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'

/** Unfinished jobs and dead letters, by type of key. */
const LISTS = ['wait', 'paused', 'active']
const SETS = ['delayed', 'prioritized', 'failed']
/** Limit on the queues of one inbox in the versions that had several. */
const MOST = 64
const HASH_TAG = /^([^{]*\{[^}]+)(\}.*)$/s

/**
 * Rejects if earlier versions spread the inbox over several queues, of which some have events: `ackhook-queues`, in the
 * first one, has the numbers of queues they used.
 */
export async function refuseSeveralQueues(
  client: RedisConnectionClient,
  prefix: string,
  queue: string,
): Promise<void> {
  const numbers = ((await client['hkeys'](`${prefix}:${queue}:ackhook-queues`)) as string[]).map(Number)
  const most = Math.min(MOST, Math.max(1, ...numbers.filter(Number.isSafeInteger)))
  const others = Array.from({ length: most - 1 }, (_, i) => numberedQueue(prefix, queue, i + 2))
  const counts = await Promise.all(others.map(key => countEvents(client, key)))
  const found = others.flatMap((key, i) => (counts[i] === 0 ? [] : [`'${key}' (${counts[i]})`]))
  if (found.length === 0) return
  throw earlierVersion(`The queue '${queue}' was one of several, and there are events in ${found.join(', ')}`)
}

async function countEvents(client: RedisConnectionClient, key: string): Promise<number> {
  const counts = await Promise.all([
    ...LISTS.map(name => client['llen'](`${key}:${name}`)),
    ...SETS.map(name => client['zcard'](`${key}:${name}`)),
  ])
  return counts.reduce((sum: number, count) => sum + Number(count), 0)
}

/** Returns the start of the keys of one of several queues, whose number was in the hash tag if there was one. */
function numberedQueue(prefix: string, queue: string, number: number): string {
  const inPrefix = HASH_TAG.exec(prefix)
  if (inPrefix !== null) return `${inPrefix[1]}.${number}${inPrefix[2]}:${queue}`
  const inQueue = HASH_TAG.exec(queue)
  return `${prefix}:${inQueue === null ? `${queue}.${number}` : `${inQueue[1]}.${number}${inQueue[2]}`}`
}
