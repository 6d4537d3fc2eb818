import type { Inbox } from '@ackhook/core'
import { inboxCases } from '@ackhook/testing/inbox-suite'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { postgresEngine, redisEngine, type TestEngine } from './engines.ts'
import { unique } from './parts.ts'

/** BullMQ forgets an id when the next event is handled after its retention, and counts in seconds. */
const CAPABILITIES = { durable: true, serialize: false, forgets: false }

const LANES = 8

/**
 * The suite sends hundreds of events at once and expects each to be accepted. PostgreSQL commits them a few at a
 * time, and on a busy machine the last ones would run into the second that a delivery has: the answer then is 503.
 * So here they come by a few connections, as from a sender. What a crash leaves is for test/faults to prove.
 */
function inLanes(inbox: Inbox): Inbox {
  const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve())
  let turn = 0
  return {
    ...inbox,
    accept(delivery) {
      const lane = turn++ % LANES
      const answer = lanes[lane]!.then(() => inbox.accept(delivery))
      lanes[lane] = answer
      return answer
    },
  }
}

describe.each([
  ['Redis', redisEngine, (inbox: Inbox) => inbox],
  ['PostgreSQL', postgresEngine, inLanes],
] as const)('bullmqInbox on %s', (_, start, by) => {
  let engine: TestEngine

  beforeAll(async () => {
    engine = await start()
  }, 60_000)
  afterAll(() => engine.stop())

  for (const { id, name, run } of inboxCases(CAPABILITIES)) {
    test(`${id}: ${name}`, { timeout: 60_000 }, () => {
      const queue = unique('suite')
      return run({ open: () => by(engine.inbox(queue)), reopen: () => by(engine.inbox(queue)) })
    })
  }
})
