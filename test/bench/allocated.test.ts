import { expect, it } from 'vitest'
import { allocatedBy } from '../../bench/subjects/allocated.mjs'

/** Most that a delivery makes beside the hand-written receiver, which gives the same reply on the same framework. */
const MORE = { bytes: 7000, promises: 12 }
const LISTENERS = 9

// Bytes and counts instead of times: they are the same on a busy machine, and catch work that nobody meant to add.
it.each(['node:http', 'express', 'fastify', 'hono'] as const)(
  'allocates little more for a delivery on %s than by hand',
  // With so much space, Node 22 once in a while compiles Express wrongly, with either receiver.
  { retry: 2 },
  async framework => {
    const [hand, ours] = await Promise.all([
      allocatedBy(framework, 'hand-written'),
      allocatedBy(framework, 'ackhook'),
    ])
    expect(ours.bytes - hand.bytes).toBeLessThanOrEqual(MORE.bytes)
    expect(ours.promises - hand.promises).toBeLessThanOrEqual(MORE.promises)
    expect(ours.listeners).toBeLessThanOrEqual(LISTENERS)
  },
)
