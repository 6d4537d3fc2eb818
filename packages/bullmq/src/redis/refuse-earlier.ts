import { earlierVersion } from '@ackhook/core/spi'
import type { RedisConnectionClient } from 'bullmq'

/** Keys of a queue that has unfinished events or dead letters. */
const HELD = ['wait', 'paused', 'active', 'delayed', 'prioritized', 'failed']
/** Limit on the queues of one inbox in the versions that had several. */
const MOST = 64
const HASH_TAG = /^([^{]*\{[^}]+)(\}.*)$/s

/**
 * Rejects if an earlier version left events in the queue, or in one of several: `ackhook-queues`, in the first one, has the
 * numbers of queues over which processes spread the inbox.
 */
export async function refuseEarlier(
  client: RedisConnectionClient,
  prefix: string,
  inbox: string,
): Promise<void> {
  const numbers = ((await client['hkeys'](`${prefix}:${inbox}:ackhook-queues`)) as string[]).map(Number)
  const most = Math.min(MOST, Math.max(1, ...numbers.filter(Number.isSafeInteger)))
  const queues = Array.from({ length: most }, (_, i) => numberedQueue(prefix, inbox, i + 1))
  const held = await Promise.all(queues.map(key => client['exists'](...HELD.map(name => `${key}:${name}`))))
  const found = queues.flatMap((key, i) => (Number(held[i]) === 0 ? [] : [`'${key}'`]))
  if (found.length > 0) throw earlierVersion(`There are events in ${found.join(', ')}`)
}

/** Returns the start of the keys of one of several queues. All but the first have their number in the hash tag, if any. */
function numberedQueue(prefix: string, inbox: string, number: number): string {
  if (number === 1) return `${prefix}:${inbox}`
  const inPrefix = HASH_TAG.exec(prefix)
  if (inPrefix !== null) return `${inPrefix[1]}.${number}${inPrefix[2]}:${inbox}`
  const inQueue = HASH_TAG.exec(inbox)
  return `${prefix}:${inQueue === null ? `${inbox}.${number}` : `${inQueue[1]}.${number}${inQueue[2]}`}`
}
