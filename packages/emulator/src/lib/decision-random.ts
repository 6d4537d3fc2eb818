import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '@ackhook/testing'

/**
 * Returns the random draws of a named decision. Each name has its own stream, which no restart or concurrent work
 * changes.
 */
export function decisionRandom(seed: number, name: string): Random {
  const digest = createHash('sha256').update(`${seed}:${name}`).digest()
  return seededRandom(digest.readUInt32LE(0))
}
