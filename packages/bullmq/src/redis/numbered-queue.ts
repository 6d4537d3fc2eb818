import type { EngineSettings } from '../engine/engine.ts'

const HASH_TAG = /^([^{]*\{[^}]+)(\}.*)$/s

type QueuePlace = Pick<EngineSettings, 'queue' | 'prefix'>

/**
 * Where one of several queues is. The first one has the name of the inbox. The number of another is in the hash tag, if
 * there is one, so that a Redis Cluster has the keys of each queue on one node, and those of several on several.
 */
export function numberedQueue({ queue, prefix }: QueuePlace, number: number): QueuePlace {
  if (number === 1) return { queue, prefix }
  const inPrefix = HASH_TAG.exec(prefix ?? '')
  if (inPrefix !== null) return { queue, prefix: `${inPrefix[1]}.${number}${inPrefix[2]}` }
  const inQueue = HASH_TAG.exec(queue)
  return { queue: inQueue === null ? `${queue}.${number}` : `${inQueue[1]}.${number}${inQueue[2]}`, prefix }
}
