import { expect, it } from 'vitest'
import { allocatedBy } from '../../bench/subjects/allocated.mjs'

/** Largest figures of a delivery beside the hand-written receiver, which gives the same reply on the same framework. */
const MOST = { bytes: 14_000, promises: 33, listeners: 4 }

// Bytes and counts instead of times: they are the same on a busy machine, and catch work that nobody meant to add.
it.each(['node:http', 'express', 'fastify', 'hono'] as const)(
  'allocates little more for a delivery on %s than by hand',
  async framework => {
    const [hand, ours] = await Promise.all([
      allocatedBy(framework, 'hand-written'),
      allocatedBy(framework, 'ackhook'),
    ])
    expect(ours.bytes - hand.bytes).toBeLessThan(MOST.bytes)
    expect(ours.promises - hand.promises).toBeLessThan(MOST.promises)
    expect(ours.listeners - hand.listeners).toBeLessThanOrEqual(MOST.listeners)
  },
)
