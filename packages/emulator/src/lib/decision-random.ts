import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '@ackhook/testing'

/**
 * The random draws of one decision, by its name. Each has its own stream, so that neither a restart nor concurrent work
 * changes them.
 */
export function decisionRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest()
  return seededRandom(digest.readUInt32LE(0))
}
