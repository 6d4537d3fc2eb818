import type { RedisConnectionClient } from 'bullmq'
import type { QueuePlace } from '../engine/engine.ts'
import { MAX_QUEUES } from './place-of.ts'

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`
/** KEYS: the record. Returns alternating numbers and ages. */
const READ = `${NOW}
local found = redis.call('HGETALL', KEYS[1])
for i = 2, #found, 2 do found[i] = string.format('%.0f', now - found[i]) end
return found
`
/**
 * Records a number of queues. An inbox without a record may have had one queue. A removal comes first, since a script
 * that begins with one may write on a Redis without free memory. KEYS: the record. ARGV: the number.
 */
const USE = `${NOW}
now = string.format('%.0f', now)
local isNew = redis.call('EXISTS', KEYS[1]) == 0
if isNew and ARGV[1] == '1' then return end
redis.call('HDEL', KEYS[1], ARGV[1])
if isNew then redis.call('HSET', KEYS[1], '1', now) end
redis.call('HSET', KEYS[1], ARGV[1], now)
`

/**
 * Numbers of queues that an inbox has had, in a hash of its first queue. They show processes which queues may still hold
 * events or ids, and tools how many queues there are.
 */
export class QueueRecord {
  readonly #client: RedisConnectionClient
  readonly #key: string

  constructor(client: RedisConnectionClient, { prefix = 'bull', queue }: QueuePlace) {
    this.#client = client
    this.#key = `${prefix}:${queue}:ackhook-queues`
  }

  /** Milliseconds since a process last used each number. Empty for an inbox that never had more than one queue. */
  async read(): Promise<ReadonlyMap<number, number>> {
    const found = (await this.#client['eval'](READ, 1, this.#key)) as string[]
    const used = new Map<number, number>()
    for (let i = 0; i < found.length; i += 2) {
      const count = Number(found[i])
      // A later release may allow more queues.
      if (count >= 1 && count <= MAX_QUEUES) used.set(count, Number(found[i + 1]))
    }
    return used
  }

  /** Records that a process uses this number now. */
  async use(count: number): Promise<void> {
    await this.#client['eval'](USE, 1, this.#key, count)
  }

  /** Removes a number that no process uses, once its queues are empty. */
  async forget(count: number): Promise<void> {
    await this.#client['hdel'](this.#key, count)
  }
}

const HASH_TAG = /^([^{]*\{[^}]+)(\}.*)$/s

/**
 * Returns the name of one of several queues. The first has the inbox's name. The others have their number in the hash
 * tag, if there is one, so that a Redis Cluster keeps each queue's keys on one node and spreads the queues over
 * several.
 */
export function numberedQueue({ queue, prefix }: QueuePlace, number: number): QueuePlace {
  if (number === 1) return { queue, prefix }
  const inPrefix = HASH_TAG.exec(prefix ?? '')
  if (inPrefix !== null) return { queue, prefix: `${inPrefix[1]}.${number}${inPrefix[2]}` }
  const inQueue = HASH_TAG.exec(queue)
  return { queue: inQueue === null ? `${queue}.${number}` : `${inQueue[1]}.${number}${inQueue[2]}`, prefix }
}
