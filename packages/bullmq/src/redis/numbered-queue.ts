import type { EngineSettings } from '../engine/engine.ts'

const HASH_TAG = /^([^{]*\{[^}]+)(\}.*)$/s

type QueuePlace = Pick<EngineSettings, 'queue' | 'prefix'>

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
