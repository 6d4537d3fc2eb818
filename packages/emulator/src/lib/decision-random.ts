import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '@ackhook/testing'

/**
 * The draws of one decision, by its name. A stream for each, so that neither a restart nor what runs at the same time
 * changes them.
 */
export function decisionRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest()
  return seededRandom(digest.readUInt32LE(0))
}
